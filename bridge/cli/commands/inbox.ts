/**
 * The command `inbox`: lists results that no client has collected, and tasks that wait for a person. Marks results as
 * collected only with `--collect`.
 */
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { stateWithNotDone } from '../../sessions/state-with-not-done.ts';
import { type InboxEntry, type KeyedInboxEntry, entryEndState } from '../../inbox/inbox-entry.ts';
import type { CommandRun } from '../context/run-command.ts';
import { unreachableAgentsExitCode, UsageError } from '../terminal/exit-codes.ts';
import { commandWord } from '../terminal/command-word.ts';
import { idForWidth, shortIds } from '../terminal/short-ids.ts';
import { styleOfState } from '../terminal/paint.ts';
import { cutToWidth } from '../terminal/table.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { noAnswerText } from '../terminal/terminal-words.ts';
import { NewInboxEntries, readInbox } from '../watch/inbox-watch.ts';

interface InboxOptions {
  watch?: boolean;
  bell?: boolean;
  collect?: boolean;
}

const BELL = '\u{7}';

/**
 * Prints the inbox. With `--watch`, also prints each later entry.
 * @throws UsageError; ProductError CONFIGURATION or STORAGE
 */
export async function inboxCommand(run: CommandRun<InboxOptions>): Promise<number> {
  const { options, terminal } = run;
  const watches = options.watch === true;
  if (terminal.printsJson && options.bell === true)
    throw new UsageError('--bell is for a terminal. Omit --json.');
  const context = await run.openSessions();
  const { entries, sessions, unreachable } = await readInbox(context);
  const print = (shown: readonly KeyedInboxEntry[]): void => {
    const bell = options.bell === true ? BELL : '';
    if (watches) for (const { entry } of shown) terminal.json(entry);
    if (shown.length > 0) terminal.say(`${bell}${inboxText(shown, terminal)}`);
    if (options.collect !== true) return;
    for (const { entry } of shown)
      if (entry.type === 'finished') context.outbox.collect(entry, entryEndState(entry));
  };
  if (!watches) terminal.json({ entries: entries.map(({ entry }) => entry), unreachable });
  print(entries);
  if (entries.length === 0 && unreachable.length === 0) terminal.say('The inbox is empty.');
  // With --json, the printed object contains the unreachable agents. With --watch, each printed object is one entry, so
  // the unreachable agents are printed to stderr.
  const report = watches ? terminal.warn : terminal.complain;
  for (const each of unreachable) report(noAnswerText(each));
  if (watches) {
    const watch = new NewInboxEntries(context, run.settings.stateDir, entries);
    watch.follow(sessions);
    for (;;) print(await watch.next());
  }
  return unreachable.length === context.registry.all.length && entries.length === 0
    ? unreachableAgentsExitCode(unreachable)
    : 0;
}

function inboxText(entries: readonly KeyedInboxEntry[], { paint, width }: Terminal): string {
  const short = shortIds(entries.map(({ entry }) => entry.sessionId));
  return entries
    .map(({ entry }) => {
      const { sessionId, agent, title, state } = entry;
      const notDone = entry.type === 'finished' ? entry.notDone : '';
      const about = title === '' ? '' : `: ${visibleLine(title)}`;
      const id = idForWidth(width, short.get(sessionId) ?? sessionId);
      const word = stateWithNotDone({ state, notDone });
      const rest = `  ${visibleLine(id)}  ${agent}${about}`;
      // A long title is cut, so that this line fits on one row. The command on the next line shows the whole task.
      const shown = width === undefined ? rest : cutToWidth(rest, width - word.length);
      return `${paint(notDone === '' ? styleOfState(state) : 'yellow', word)}${shown}${nextStep(entry, id)}`;
    })
    .join('\n');
}

function nextStep(entry: InboxEntry, id: string): string {
  const command = entry.type === 'waiting' ? 'show' : 'watch';
  return `\n  mcp-a2a-bridge ${command} ${commandWord(id)}`;
}
