/**
 * The command `tasks`: lists the sessions of every agent. Sessions that wait for a person come first. The newest others
 * follow.
 */
import { isNonTerminal } from '../../../shared/protocol/task-states.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { SESSION_STATE_NAMES, type SessionStateName } from '../../dialects/observation.ts';
import type { ListedSession } from '../../sessions/list-sessions.ts';
import { stateWithNotDone } from '../../sessions/state-with-not-done.ts';
import { dollarsText } from '../../../shared/text/cost-text.ts';
import { unreachableAgentsExitCode } from '../terminal/exit-codes.ts';
import type { CommandRun } from '../context/run-command.ts';
import { readChoiceOption, readNumberOption } from '../terminal/option-value.ts';
import { idForWidth, shortIds } from '../terminal/short-ids.ts';
import { styleOfState } from '../terminal/paint.ts';
import { ageText } from '../terminal/age.ts';
import { noAnswerText } from '../terminal/terminal-words.ts';
import { formatTable } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { taskStateWord } from '../../../shared/text/task-state-word.ts';

interface TasksOptions {
  agent?: string;
  state?: string;
  limit?: string;
}

const DEFAULT_LIMIT = '50';

const NO_TASKS =
  'There are no tasks. Delegate one from your MCP client, or here: mcp-a2a-bridge run "Create test.md with hello"';

/**
 * Prints the sessions of every agent.
 * @throws ProductError UNKNOWN_AGENT; UsageError
 */
export async function tasksCommand(run: CommandRun<TasksOptions>): Promise<number> {
  const { options, terminal } = run;
  const state = parseState(options.state);
  const limit = readNumberOption('--limit', options.limit ?? DEFAULT_LIMIT, { min: 1 });
  const context = await run.openSessions();
  const { sessions, unreachable, unread } = await context.sessions.list({
    agent: options.agent === undefined ? undefined : context.registry.pick(options.agent),
    states: state === undefined || !isNonTerminal(state) ? undefined : [state],
  });
  const wanted = sessions.filter((each) => state === undefined || each.state === state);
  const shown = wanted.slice(0, limit);
  const more = wanted.length - shown.length + unread;
  terminal.json({ sessions: shown.map(withoutCodes), more, unreachable });
  if (shown.length > 0) terminal.say(tasksTable(shown, sessions, terminal));
  else if (unreachable.length === 0) terminal.say(noTasksText({ state, agent: options.agent }));
  if (more > 0) terminal.say(`… and ${String(more)} more (--limit)`);
  for (const each of unreachable) terminal.complain(noAnswerText(each));
  // The command fails only if no agent has answered, and if the state of no session is known.
  const all = options.agent === undefined ? context.registry.all.length : 1;
  return unreachable.length === all && sessions.every((each) => each.state === 'unknown')
    ? unreachableAgentsExitCode(unreachable)
    : 0;
}

function noTasksText({ state, agent }: { state: string | undefined; agent: string | undefined }): string {
  if (state !== undefined) return 'No task is in this state. "mcp-a2a-bridge tasks" lists all.';
  return agent === undefined ? NO_TASKS : 'This agent has no tasks. "mcp-a2a-bridge tasks" lists all.';
}

/**
 * Returns a session without the codes of its actions. A person must see an action before deciding it, so a list does
 * not contain the codes.
 */
function withoutCodes(session: ListedSession): Omit<ListedSession, 'codes' | 'callIds'> {
  const { codes: _codes, callIds: _callIds, ...each } = session;
  return each;
}

function parseState(given: string | undefined): SessionStateName | undefined {
  if (given === undefined) return undefined;
  const word = readChoiceOption('state', taskStateWord(given), SESSION_STATE_NAMES.map(taskStateWord));
  return SESSION_STATE_NAMES.find((name) => taskStateWord(name) === word);
}

function tasksTable(
  shown: readonly ListedSession[],
  all: readonly ListedSession[],
  { paint, width }: Terminal,
): string {
  const now = Date.now();
  // The table has a column for costs only if at least one session has a cost.
  const priced = shown.some(({ usd }) => usd !== null && usd > 0);
  const short = shortIds(all.map(({ sessionId }) => sessionId));
  return formatTable(
    [
      { title: 'SESSION' },
      { title: 'AGENT' },
      { title: 'STATE' },
      { title: 'PENDING', align: 'right' },
      { title: 'AGE', align: 'right' },
      ...(priced ? [{ title: 'COST', align: 'right' as const }] : []),
      { title: 'TASK' },
    ],
    shown.map(({ sessionId, agent, state, notDone, pending, updatedAt, title, usd }) => [
      { text: visibleLine(idForWidth(width, short.get(sessionId) ?? sessionId)) },
      { text: agent },
      {
        text: stateWithNotDone({ state, notDone }),
        paint: (text: string) => paint(notDone === '' ? styleOfState(state) : 'yellow', text),
      },
      {
        text: pending === 0 ? '-' : String(pending),
        paint: (text: string) => (pending === 0 ? text : paint('yellow', text)),
      },
      { text: ageText(updatedAt, now) },
      ...(priced ? [{ text: usd === null ? '?' : dollarsText(usd) }] : []),
      { text: visibleLine(title) },
    ]),
    width,
  );
}
