/** Finds a pending action or question by its code. At least the first four digits of the code are needed. */
import { SHOWN_CODE_DIGITS } from '../../../shared/protocol/shown-code.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { codesOf, mcpTaskIdOfSession, WAITING_STATES } from '../../sessions/list-sessions.ts';
import type { Session } from '../../sessions/session/session.ts';
import type { Sessions } from '../../sessions/sessions.ts';

const CODE = new RegExp(`^[0-9a-f]{4,${String(SHOWN_CODE_DIGITS)}}$`);

export interface SessionAndCode {
  session: Session;
  code: string;
  /**
   * True if the person typed the complete code. D2: a decision is valid only for what the person saw. A part of a code
   * may be a guess, so the command then shows the question first.
   */
  whole: boolean;
}

/**
 * Finds the session in which an action or question has this code.
 * @returns undefined if the text is not a code, or if no action or question has it
 * @throws ProductError UNKNOWN_CALL if several codes, or a code and a session, have this prefix
 */
export async function findSessionWithCode(
  sessions: Sessions,
  given: string,
): Promise<SessionAndCode | undefined> {
  if (!CODE.test(given)) return undefined;
  const found: SessionAndCode[] = [];
  for await (const session of waitingSessions(sessions, 'codes', (code) => code.startsWith(given)))
    for (const code of codesOf(session.pendingInput))
      if (code.startsWith(given)) found.push({ session, code, whole: code === given });
  const [only, another] = found;
  if (only === undefined) return undefined;
  const { sessions: named } = await sessions.withPrefix(given);
  if (another === undefined && named.length === 0) return only;
  throw new ProductError(
    'UNKNOWN_CALL',
    `"${given}" may mean several things: ${[...found.map(({ code }) => `the action ${code}`), ...named.map(({ sessionId }) => `the session ${sessionId}`)].join(', ')}. Type more of the one you mean. Nothing was decided.`,
  );
}

/**
 * Yields the waiting sessions with a matching code or call id. If the agent's list contains no code or no call id of a
 * session, yields this session too: only the task itself can show whether it matches. Reads each task from its agent.
 */
export async function* waitingSessions(
  sessions: Sessions,
  field: 'codes' | 'callIds',
  isMatch: (id: string) => boolean,
): AsyncGenerator<Session> {
  const { sessions: waiting } = await sessions.list({ states: WAITING_STATES });
  for (const listed of waiting) {
    if (listed[field].length > 0 && !listed[field].some(isMatch)) continue;
    const session = await sessions.find(mcpTaskIdOfSession(listed));
    await session.refresh();
    yield session;
  }
}

export function looksLikeActionCode(given: string): boolean {
  return CODE.test(given);
}

export function isWholeActionCode(given: string): boolean {
  return CODE.test(given) && given.length === SHOWN_CODE_DIGITS;
}
