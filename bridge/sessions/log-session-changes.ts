/** Logs one line for each change of a session's state or stream, each decision, and each end of a tool call. */
import type { Logger } from '../../shared/runtime/logging.ts';
import type { ToolCallEvent } from '../../shared/protocol/call-view.ts';
import { oneLineExcerpt } from '../../shared/text/one-line.ts';
import type { LiveSessions } from './live-sessions.ts';
import type { DecisionsSentEvent, Session } from './session/session.ts';
import { sessionProblem } from './session/session-state.ts';
import type { TaskStreamChange } from './session/task-stream-reader.ts';

/** The maximum length of a reason in the log, in characters. A reason may be as long as a message. */
const MAX_REASON_CHARACTERS = 300;

/** Logs every session that is added from now on. */
export function logSessionChanges(live: LiveSessions, log: Logger): void {
  live.onAdded((session) => {
    let last = '';
    session.listen((change) => {
      if (change.type === 'activity') return logActivity(session, change.activity, log);
      if (change.type === 'stream') return logStream(session, change.change, log);
      if (change.type === 'decisions-sent') return logSent(session, change.sent, log);
      const reason = sessionProblem(session.state) ?? session.streamProblem?.message;
      const now = [
        session.stateName,
        reason,
        ...session.pendingInput.pending.map(({ callId }) => callId),
      ].join(' ');
      if (now === last) return;
      last = now;
      const callIds = session.pendingInput.pending.map(({ callId }) => callId);
      log.info(
        { ...idsOf(session), state: session.stateName, ...(callIds.length > 0 && { callIds }), reason },
        'the state of a session',
      );
    });
  });
}

function logActivity(session: Session, activity: ToolCallEvent, log: Logger): void {
  const { callId, tool } = activity;
  const ids = { ...idsOf(session), callId, tool };
  if (activity.type === 'tool.decided') {
    const { decision, by, channel } = activity;
    log.info({ ...ids, decision, by, channel, reason: shortenReason(activity.reason) }, 'a person decided');
  } else if (activity.type === 'tool.finished') {
    const { toolId, outcome, stopReason } = activity;
    const level = outcome === 'ok' ? 'debug' : 'info';
    log[level]({ ...ids, toolId, outcome, reason: stopReason }, 'a call ended');
  }
}

function logSent(session: Session, { decisions, channel, problem }: DecisionsSentEvent, log: Logger): void {
  const words = problem === undefined ? 'a decision was sent' : 'a decision was not sent';
  for (const sent of decisions) {
    const facts =
      sent.type === 'answer'
        ? { callId: sent.callId, decision: 'answer' }
        : {
            callId: sent.decision.callId,
            decision: sent.decision.decision,
            reason: shortenReason('reason' in sent.decision ? sent.decision.reason : undefined),
          };
    log.info({ ...idsOf(session), ...facts, channel, problem }, words);
  }
}

function shortenReason(reason: string | undefined): string | undefined {
  return reason === undefined ? undefined : oneLineExcerpt(reason, MAX_REASON_CHARACTERS);
}

function logStream(session: Session, change: TaskStreamChange, log: Logger): void {
  const ids = idsOf(session);
  switch (change.type) {
    case 'opened':
      return log.debug(ids, 'the stream of a task is open');
    case 'closed':
      return log.debug(ids, 'the stream of a task is closed');
    case 'broken':
      return log.debug({ ...ids, reason: change.error.message }, 'the stream of a task broke');
  }
}

function idsOf({ agent, id, view }: Session): Record<string, unknown> {
  return { agent: agent.name, sessionId: id, taskId: view?.taskId };
}
