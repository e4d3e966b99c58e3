/** Hands the results of ended tasks over to clients, and closes their outbox entries. */
import type { DeliveryParts } from './delivery-parts.ts';
import type { Session } from './session/session.ts';
import type { OnReplyConfirmed } from './replies-not-confirmed-by-client.ts';

/**
 * Records that a reply to the client now contains the result of the session's task. Until this process ends, no other
 * bridge announces that result.
 * @returns a function that records that the client has the result, and closes the outbox entries
 */
export function handOverResult(
  session: Session,
  { results, outbox, writes, log }: DeliveryParts,
): OnReplyConfirmed {
  const { view, over, agent } = session;
  if (view === undefined || !over) return () => undefined;
  const { taskId, state } = view;
  const of = { agent: agent.name, sessionId: session.id };
  session.handOver();
  results.handOver({ ...of, taskId }, state).catch((error: unknown) => {
    log.warn({ err: error }, 'a result that was handed over may be announced by another bridge');
  });
  // `collect` finds the outbox entry by its task id. An earlier write adds this id. So `collect` runs after that write.
  return () =>
    writes.begin(session, () =>
      outbox.inOneCommit(() => {
        for (const earlier of results.tasksOf(of.agent, of.sessionId))
          if (earlier !== taskId) outbox.collect({ ...of, taskId: earlier }, 'unknown');
        outbox.collect({ ...of, taskId }, state);
      }),
    );
}
