/** The command `probe`: tests an A2A agent with real tasks, and prints a report for the agent's authors. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { credentialHeaders } from '../../agents/credentials.ts';
import type { A2aVersion } from '../../probe/json-rpc-client.ts';
import {
  readProbedInterface,
  MAX_PROBE_MS,
  runProbe,
  type ProbeSubject,
  type ProbedInterface,
} from '../../probe/probe.ts';
import { MAX_PROBE_MESSAGES } from '../../probe/agent-under-test.ts';
import { probeReportText } from '../../probe/report-text.ts';
import type { CommandRun } from '../context/run-command.ts';
import { readAgentOptions, type AgentOptions } from '../agents/agent-options.ts';
import { EXIT_FAILURE } from '../../../shared/runtime/exit-codes.ts';
import { UsageError } from '../terminal/exit-codes.ts';

export interface ProbeOptions extends Omit<AgentOptions, 'url'> {
  text: string;
  a2a?: A2aVersion;
  restart?: string;
  yes?: boolean;
}

/**
 * Explains what the probe will send, asks for confirmation, and then runs the checks.
 * @returns EXIT_FAILURE if a check fails, or if the person declines
 * @throws UsageError; ProductError AGENT_UNREACHABLE
 */
export async function probeCommand(
  { options, terminal, env }: CommandRun<ProbeOptions>,
  url: string,
): Promise<number> {
  const asks = options.yes !== true;
  if (asks && !terminal.canAsk)
    throw new UsageError('A probe starts real tasks. Without a terminal, and with --json, add --yes.');
  const subject = await subjectOf(url, options, env);
  const target = await readProbedInterface(subject);
  terminal.say(announcementText(subject, target));
  if (asks && !(await terminal.confirm('Start?'))) {
    terminal.say('Nothing was sent.');
    return EXIT_FAILURE;
  }
  const report = await runProbe(subject, target);
  terminal.json(report);
  terminal.say(probeReportText(report));
  return report.rows.some(({ verdict }) => verdict === 'failed') ? EXIT_FAILURE : 0;
}

function announcementText(
  { endpoint, text, restart }: ProbeSubject,
  { url, version, agent }: ProbedInterface,
): string {
  const lines = [
    `This sends up to ${MAX_PROBE_MESSAGES} messages to "${visibleLine(agent.name)}" at ${visibleLine(url)}, over A2A ${version}.`,
    `Each may start a task, which may cost money: ${JSON.stringify(text)}.`,
    `It takes at most ${MAX_PROBE_MS / 60_000} minutes. The agent keeps the tasks.`,
  ];
  if (new URL(url).origin !== new URL(endpoint.url).origin)
    lines.push('The card names another host than your URL. This host does not get the token.');
  if (restart !== undefined) lines.push('Three checks kill and restart the agent with your command.');
  return `${lines.join('\n')}\n`;
}

/**
 * Reads the options that describe the agent to test.
 * @throws UsageError; ProductError CONFIGURATION if the token cannot be read
 */
async function subjectOf(
  url: string,
  { text, a2a, restart, ...typed }: ProbeOptions,
  env: CommandRun<ProbeOptions>['env'],
): Promise<ProbeSubject> {
  const { settings } = readAgentOptions({ ...typed, url }, 'tested');
  const headers = await credentialHeaders('The agent', settings, env);
  return {
    endpoint: { url, cardUrl: settings.cardUrl, headers },
    version: a2a,
    text,
    restart:
      restart === undefined
        ? undefined
        : async () => void (await promisify(execFile)('/bin/sh', ['-c', restart])),
  };
}
