/** Formats the report of a probe as text that a person can send to the authors of the agent. Pure. */
import { visibleLine } from '../../shared/text/visible-text.ts';
import type { ProbeCheckRow } from './checks.ts';
import type { ProbeReport } from './probe.ts';

const WAITING =
  'Its tasks do not complete: each stops at INPUT_REQUIRED. So the checks used tasks that wait, and ended one with a cancel. ' +
  'No check saw a task that completes, or that goes on after an answer. The probe has cancelled the tasks that wait.';

/** Returns a table of all checks, and a paragraph about each check that failed. */
export function probeReportText({ agent, url, version, restState, messages, rows }: ProbeReport): string {
  const who = `${agent.name} ${agent.version}`.trim();
  const width = Math.max(...rows.map(({ scenario }) => scenario.length));
  const table = rows.map(({ scenario, verdict, note }) =>
    `  ${verdict.padEnd(13)}  ${scenario.padEnd(width)}  ${visibleLine(note)}`.trimEnd(),
  );
  const failures = rows.filter(({ verdict }) => verdict === 'failed');
  const passed = rows.filter(({ verdict }) => verdict === 'passed');
  return [
    `Probe of ${visibleLine(who)} at ${visibleLine(url)}, A2A ${version} over JSON-RPC; ${messages} messages sent`,
    '',
    ...table,
    '',
    `${passed.length} of ${rows.length} checks passed, ${failures.length} failed.`,
    ...(restState === 'COMPLETED' ? [] : [WAITING]),
    ...failures.map(failureText),
  ].join('\n');
}

function failureText({ scenario, sent, source, note, why }: ProbeCheckRow): string {
  const lines = [
    ['Sent', sent],
    ['Expected', `${scenario} (${source})`],
    ['Received', visibleLine(note)],
    ['Why it matters', why],
  ];
  return ['', ...lines.map(([name, text]) => `  ${`${name}:`.padEnd(16)}${text}`)].join('\n');
}
