/** Beginning what a call delegates, or joining what the same call has begun before its client gave up waiting. */
import type { Agent } from '../agents/agent.ts';
import type { Work } from '../outbox/entry.ts';
import { isRecent } from '../outbox/same-call.ts';
import type { SessionReport } from '../results/session-report.ts';
import type { Session } from '../sessions/session.ts';
import { hasEnded } from '../sessions/view.ts';
import { awaitSession } from './await-session.ts';
import type { ToolCall } from './tool.ts';
import type { Reply } from './tool-result.ts';

export interface Begun {
  session: Session;
  /** Its message on its way; absent where there is nothing to send. */
  delivery?: Promise<void>;
  notes: readonly string[];
  /** To be called when the client has its answer, or is to have none. */
  over: () => void;
}

const JOINED =
  'The same call had been made before and was not answered: this is its task. Nothing was sent again.';

export interface Beginning extends Work {
  agent: Agent;
  /** The session that is gone on with, if one is. */
  going?: Session | undefined;
}

/** The task of the same call, if its client gave up waiting for it. @throws ProductError */
export async function joined(call: ToolCall, beginning: Beginning): Promise<Begun | undefined> {
  const { delegations, sessions } = call.bridge;
  const { agent, going, ...work } = beginning;
  const asked = { agent: agent.name, ...work, sessionId: going?.id ?? null };
  const entry = await delegations.unanswered(asked);
  if (entry === undefined) return undefined;
  const { messageId, state } = entry;
  const handle = state.type === 'accepted' ? state.taskId : messageId;
  const session = going ?? (await sessions.find(handle, { signal: call.signal }));
  const { view } = session;
  if (view !== undefined && hasEnded(view)) {
    const other = state.type === 'accepted' && view.taskId !== state.taskId;
    if (other || view.state === 'canceled' || !isRecent(entry, Date.now())) return undefined;
  }
  const over = delegations.asks(messageId, call.signal);
  await session.refresh();
  return { session, notes: [JOINED], over };
}

/** @throws ProductError, or when the call has been withdrawn */
export async function begin(call: ToolCall, beginning: Beginning): Promise<Begun> {
  const { delegations } = call.bridge;
  const { agent, going, ...work } = beginning;
  call.beforeSending();
  const { session, delivery, messageId } =
    going === undefined ? await delegations.start(agent, work) : await delegations.goOn(going, work);
  return { session, delivery, notes: [], over: delegations.asks(messageId, call.signal) };
}

/** What came of it, as far as the call waits for it. */
export async function awaitBegun(
  call: ToolCall,
  { session, delivery, notes, over }: Begun,
  waitSeconds: number | undefined,
): Promise<Reply<SessionReport>> {
  call.awaits({ session, ...(delivery === undefined ? {} : { delivery }) });
  try {
    return await awaitSession(call, {
      session,
      ...(delivery === undefined ? {} : { delivery }),
      timeout: call.timeout(waitSeconds),
      notes: () => notes,
    });
  } finally {
    over();
  }
}
