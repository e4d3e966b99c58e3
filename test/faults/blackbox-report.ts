/** The results of the black-box test, as a table and as text for the operator of the server. */
import { A2A_VERSIONS, type A2aVersion } from './a2a-client.ts';
import type { Subject } from './tested-server.ts';
import { blackbox, type Report } from './blackbox.ts';
import { must, type Findings } from './findings.ts';
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
  findings.say(reportText('our server', ours));
  findings.say(reportText("the SDK's own request handler, for comparison", bare));
  findings.count(
    `blackbox: scenarios held by our server, A2A ${version}`,
    ours.rows.filter(({ verdict }) => verdict === 'held').length,
  );
  const broken = ours.rows.filter(({ verdict }) => verdict === 'lost');
  must(broken.length === 0, () => broken.map(({ scenario, note }) => `${scenario}: ${note}`).join('; '));
  const losses = bare.rows.filter(({ verdict }) => verdict === 'lost').length;
  findings.count(`blackbox: scenarios lost by the bare server, A2A ${version}`, losses);
  must(losses > 0, 'a server that is known to lose tasks lost none: the harness detects nothing');
}

async function reportOn(lent: Promise<Lent>): Promise<Report> {
  const { subject, close } = await lent;
  try {
    return await blackbox(subject);
  } finally {
    await close();
  }
}

/** Tests another project's server. Each loss counts as a failure. */
export async function runBlackboxOn(subject: Subject, findings: Findings): Promise<Report> {
  const report = await blackbox(subject);
  findings.say(reportText(subject.url, report));
  for (const { scenario, verdict, note } of report.rows) {
    findings.count(`blackbox: scenarios ${verdict}`);
    if (verdict === 'lost') findings.noted({ part: 'blackbox', round: 1, what: `${scenario}: ${note}` });
  }
  return report;
}

export function reportText(title: string, { version, rows }: Report): string {
  const width = Math.max(...rows.map(({ scenario }) => scenario.length));
  const table = rows.map(({ scenario, verdict, note }) =>
    `  ${scenario.padEnd(width)}  ${verdict.padEnd(13)}  ${note}`.trimEnd(),
  );
  const losses = rows
    .filter(({ verdict }) => verdict === 'lost')
    .map(
      ({ scenario, note, why }) =>
        `\n  - Expected: ${scenario}.\n    Found: ${note}.\n    Why it matters: ${why}`,
    );
  const words = losses.length === 0 ? [] : ['', `What it loses, of ${rows.length} things tried:`, ...losses];
  return [`blackbox, A2A ${version}: ${title}`, ...table, ...words, ''].join('\n');
}
