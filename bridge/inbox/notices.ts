/**
 * Builds the text of a notice file, which the hooks of an MCP client read. The first line contains counts for a status
 * line. Each further line is one entry of the inbox: its key, a space, and a sentence. Pure.
 */
import { createHash } from 'node:crypto';
import { stateWithNotDone } from '../sessions/state-with-not-done.ts';
import { visibleLine } from '../../shared/text/visible-text.ts';
import { isNonTerminal } from '../../shared/protocol/task-states.ts';
import type { ListedSession } from '../sessions/list-sessions.ts';
import type { UncollectedTask } from '../state/waiting-results.ts';
import type { NameOfTool } from '../tool-names/tool-names.ts';
import { type InboxEntry, inboxEntries, type KeyedInboxEntry, ownOpenSessions } from './inbox-entry.ts';

const MAX_TITLE_CHARACTERS = 80;
/** The maximum number of entries in a notice file. The inbox contains the others. */
const MAX_ENTRIES = 20;
/** The length of a key in hexadecimal digits. */
const KEY_DIGITS = 16;

/**
 * Returns the text of the notice file for one directory.
 * @param tasks the uncollected tasks that were delegated from this directory
 * @param sessions the sessions that this bridge follows
 */
export function directoryNoticeText(
  tasks: readonly UncollectedTask[],
  sessions: readonly ListedSession[],
  name: NameOfTool,
): string {
  // The first two counts contain only tasks of this bridge, so a reader can add these counts of several files. The
  // third count contains the results of all bridges.
  const followed = ownOpenSessions(tasks, sessions);
  const entries = inboxEntries(followed, tasks);
  const waiting = entries.filter(({ entry }) => entry.type === 'waiting').length;
  const live = followed.filter(({ state }) => isNonTerminal(state)).length;
  const counts = ['counts', waiting, live - waiting, entries.length - waiting].join(' ');
  const lines = entries.slice(0, MAX_ENTRIES).map((keyed) => lineOf(keyed, name));
  return [counts, ...lines, ''].join('\n');
}

function lineOf({ key, entry }: KeyedInboxEntry, name: NameOfTool): string {
  const id = createHash('sha256').update(key).digest('hex').slice(0, KEY_DIGITS);
  const { sessionId, agent, title } = entry;
  const what = title === '' ? '' : ` "${visibleLine(title, MAX_TITLE_CHARACTERS)}"`;
  const next = entry.type === 'finished' ? 'returns the result' : 'shows it';
  const step = `${name('wait_for_task')} ${next}.`;
  return `${id} Session ${visibleLine(sessionId)} (${visibleLine(agent)})${what}: ${stateOf(entry)}. ${step}`;
}

/** Returns the entry as one sentence for a person. */
export function inboxEntryText(entry: InboxEntry): string {
  const { title, sessionId } = entry;
  return `${visibleLine(title === '' ? sessionId : title, MAX_TITLE_CHARACTERS)}: ${stateOf(entry)}.`;
}

function stateOf(entry: InboxEntry): string {
  if (entry.type === 'finished') return stateWithNotDone(entry);
  if (entry.state === 'auth-required') return 'waits for a sign-in';
  if (entry.pending === 0) return 'asks a question';
  return `${entry.pending === 1 ? '1 action waits' : `${String(entry.pending)} actions wait`} for a decision`;
}
