/** The command `doctor`: checks all parts of the installation, and names the next step for each problem. */
import { readPackageVersion } from '../../../shared/runtime/version.ts';
import { probeAgentAbilities } from '../../agents/abilities.ts';
import type { Agent } from '../../agents/agent.ts';
import { ALL_BRIDGE_SETTINGS } from '../../settings/settings.ts';
import { LOCAL_AGENT } from '../../settings/agent-settings.ts';
import { createAgentRegistry } from '../../startup/configured-agents.ts';
import { clientEnvironment } from '../clients/client.ts';
import { abilitiesLine } from '../agents/abilities-text.ts';
import { checkAgent } from '../doctor/check-agent.ts';
import { checkClients } from '../doctor/check-clients.ts';
import { printCheckResultWithSubject } from '../terminal/print-check-result.ts';
import { checkNode, checkNotifications } from '../doctor/check-machine.ts';
import { checkLocalServer, isPortInUse } from '../doctor/check-server.ts';
import { checkServerStart } from '../context/server-program.ts';
import { checkClockMark, checkDatabase, checkStateDirectory, checkTokenFile } from '../doctor/check-state.ts';
import { checkApprovalWebhook, NO_WEBHOOK } from '../doctor/check-approval-webhook.ts';
import {
  type CheckResult,
  type ServerCheckReport,
  STATE_DIRECTORY_SUBJECT,
  checkResults,
} from '../../../shared/runtime/check-result.ts';
import { checkVariableNames } from '../../../shared/settings/check-variable-names.ts';
import { EXIT_FAILURE } from '../../../shared/runtime/exit-codes.ts';
import type { CommandRun } from '../context/run-command.ts';

interface DoctorOptions {
  offline?: boolean;
  webhook?: boolean;
}

/**
 * Runs all checks and prints their results.
 * @returns EXIT_FAILURE if a check fails; a warning is not a failure
 */
export async function doctorCommand(run: CommandRun<DoctorOptions>): Promise<number> {
  const { terminal } = run;
  const findings = await findingsOf(run);
  const failed = findings.filter(({ level }) => level === 'fail').length;
  terminal.json({ ok: failed === 0, findings });
  for (const finding of findings) printCheckResultWithSubject(terminal, finding);
  const warned = findings.filter(({ level }) => level === 'warn').length;
  terminal.say(
    `\n${String(findings.length - failed - warned)} fine, ${String(warned)} to look at, ${String(failed)} to correct.`,
  );
  return failed === 0 ? 0 : EXIT_FAILURE;
}

async function findingsOf({
  options: { offline = false, webhook = false },
  settings,
  places,
  env,
}: CommandRun<DoctorOptions>): Promise<readonly CheckResult[]> {
  const { stateDir, http, approvalWebhook, desktopNotifications } = settings;
  const tokens = [await checkTokenFile(stateDir, 'token'), await checkTokenFile(stateDir, 'http-token')];
  // With `autoStart: false`, no check starts a server.
  const registry = createAgentRegistry({ ...settings, autoStart: false }, env, places.serverScript);
  const local = registry.all.some(({ name }) => name === LOCAL_AGENT);
  const start = local ? await checkServerStart(settings, places.serverScript, offline) : undefined;
  const server = start && (await checkLocalServer(settings, env, start.agent));
  // The local agent is checked only if its server runs. `checkLocalServer` reports a server that does not run.
  const asked = registry.all.filter(
    ({ name }) => !offline && (name !== LOCAL_AGENT || server?.running === true),
  );
  const agents = await Promise.all(asked.map((agent) => agentFindings(agent)));
  return [
    checkResults('mcp-a2a-bridge').ok(readPackageVersion()),
    checkNode(process.version),
    ...checkVariableNames('MCP_A2A_BRIDGE_', { settings: ALL_BRIDGE_SETTINGS, values: settings, env }),
    ...(await checkStateDirectory(stateDir)),
    ...[...tokens, await checkDatabase(stateDir), await checkClockMark(stateDir)].filter(
      (each) => each !== undefined,
    ),
    ...(start === undefined ? [] : startFindings(start, server?.agent)),
    ...(server === undefined ? [] : [server.finding]),
    ...(http !== undefined && http !== 0 ? [await checkHttpPort(http)] : []),
    ...agents.flat(),
    ...(approvalWebhook !== undefined
      ? [await checkApprovalWebhook(approvalWebhook, env, webhook)]
      : webhook
        ? [NO_WEBHOOK]
        : []),
    ...(desktopNotifications ? [await checkNotifications(clientEnvironment())] : []),
    ...(await checkClients(clientEnvironment())),
  ];
}

/**
 * Replaces the results about a missing key, if the running server has the key. An MCP client may have started that
 * server with other environment variables.
 */
function startFindings(
  { findings: all, agent, missingVariable }: ServerCheckReport,
  runs: string | undefined,
): readonly CheckResult[] {
  // `doctor` checks the state directory and the token files itself. So the server's result about them is left out.
  const findings = all.filter(({ subject }) => subject !== STATE_DIRECTORY_SUBJECT);
  if (missingVariable === null || runs === undefined || runs !== agent) return findings;
  return [
    checkResults('model').warn(
      `${agent}; the running server has its key. ${missingVariable} is not set here, so it was not tried`,
      `Run this again with ${missingVariable} set to try the model.`,
    ),
  ];
}

async function agentFindings(agent: Agent): Promise<readonly CheckResult[]> {
  const findings = await checkAgent(agent);
  if (findings.some(({ level }) => level === 'fail')) return findings;
  return [
    ...findings,
    checkResults(`agent ${agent.name}`).ok(abilitiesLine(await probeAgentAbilities(agent))),
  ];
}

async function checkHttpPort(port: number): Promise<CheckResult> {
  return (await isPortInUse(port))
    ? checkResults('MCP over HTTP').warn(
        `port ${String(port)} is in use`,
        'If it is not a bridge of yours that serves there, choose another with --http.',
      )
    : checkResults('MCP over HTTP').ok(`port ${String(port)} is free`);
}
