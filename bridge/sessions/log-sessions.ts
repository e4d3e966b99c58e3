/** Writes one log line for each change of a session's state. It also logs each decision and each end of a call. */
import type { Logger } from '../../shared/runtime/logging.ts';
import type { Activity } from '../../shared/protocol/call-view.ts';
import type { LiveSessions } from './live-sessions.ts';
import type { Session } from './session.ts';
import { problemOf } from './session-state.ts';

/** Logs all sessions that are added from now on. */
export function logSessions(live: LiveSessions, log: Logger): void {
  live.onAdded((session) => {
    let last = '';
    session.listen((change) => {
      if (change.type === 'activity') return logActivity(session, change.activity, log);
      const reason = problemOf(session.state);
      const now = [session.stateName, reason, ...session.asked.pending.map(({ callId }) => callId)].join(' ');
      if (now === last) return;
      last = now;
      const callIds = session.asked.pending.map(({ callId }) => callId);
      log.info(
        { ...idsOf(session), state: session.stateName, ...(callIds.length > 0 && { callIds }), reason },
        'the state of a session',
      );
    });
  });
}

function logActivity(session: Session, activity: Activity, log: Logger): void {
  const { callId, tool } = activity;
  const ids = { ...idsOf(session), callId, tool };
  if (activity.type === 'tool.decided') {
    const { decision, by, channel } = activity;
    log.info({ ...ids, decision, by, channel }, 'a person decided');
  } else if (activity.type === 'tool.finished') {
    const { toolId, outcome, stopReason } = activity;
    const level = outcome === 'ok' ? 'debug' : 'info';
    log[level]({ ...ids, toolId, outcome, reason: stopReason }, 'a call ended');
  }
}

function idsOf({ agent, id, view }: Session): Record<string, unknown> {
  return { agent: agent.name, sessionId: id, taskId: view?.taskId };
}
