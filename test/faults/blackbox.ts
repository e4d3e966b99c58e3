/** Probes our server, and the bare server for comparison, with the checks of `mcp-a2a-bridge probe`. */
import { A2A_VERSIONS, type A2aVersion } from '../../bridge/probe/json-rpc-client.ts';
import { readProbedInterface, runProbe, type ProbeReport } from '../../bridge/probe/probe.ts';
import { probeReportText } from '../../bridge/probe/report-text.ts';
import { must } from './findings.ts';
import type { Run } from './parts.ts';
import { bareServer, ourServer, type Lent } from './subjects.ts';

/**
 * Checks our server and the bare server. Ours must lose nothing. The bare server must lose something, as proof that
 * the harness detects losses.
 */
export async function runOwnBlackbox({ programs, findings }: Run): Promise<void> {
  await findings.round('blackbox', 1, async () => {
    const began = performance.now();
    for (const version of A2A_VERSIONS) await bothIn(version, { programs, findings });
    findings.count('blackbox: seconds', Math.round((performance.now() - began) / 1000));
  });
}

async function bothIn(
  version: A2aVersion,
  { programs, findings }: Pick<Run, 'programs' | 'findings'>,
): Promise<void> {
  const [ours, bare] = await Promise.all([
    reportOn(ourServer(programs, findings.seed, version)),
    reportOn(bareServer(version)),
  ]);
  findings.say(`our server: ${probeReportText(ours)}`);
  findings.say(`the SDK's own request handler, for comparison: ${probeReportText(bare)}`);
  findings.count(
    `blackbox: scenarios held by our server, A2A ${version}`,
    ours.rows.filter(({ verdict }) => verdict === 'passed').length,
  );
  const broken = ours.rows.filter(({ verdict }) => verdict === 'failed');
  must(broken.length === 0, () => broken.map(({ scenario, note }) => `${scenario}: ${note}`).join('; '));
  const losses = bare.rows.filter(({ verdict }) => verdict === 'failed').length;
  findings.count(`blackbox: scenarios lost by the bare server, A2A ${version}`, losses);
  must(losses > 0, 'a server that is known to lose tasks lost none: the harness detects nothing');
}

async function reportOn(lent: Promise<Lent>): Promise<ProbeReport> {
  const { subject, close } = await lent;
  try {
    return await runProbe(subject, await readProbedInterface(subject));
  } finally {
    await close();
  }
}
