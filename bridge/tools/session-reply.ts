/** The reply of a tool that is about one session. */
import { nextStep } from '../results/next-step.ts';
import { reportOf, type SessionReport } from '../results/session-report.ts';
import { sessionText } from '../results/session-text.ts';
import type { Session } from '../sessions/session.ts';
import { hasEnded } from '../sessions/view.ts';
import type { WaitEnd } from '../sessions/wait.ts';
import type { Reply, ToolCall } from './tool.ts';

export interface SessionReplyOptions {
  end: WaitEnd;
  notes?: readonly string[];
}

/** The session as it stands. A result that is handed over here is collected: nobody has to be told of it again. */
export function sessionReply(
  call: ToolCall,
  session: Session,
  options: SessionReplyOptions,
): Reply<SessionReport> {
  const { end, notes = [] } = options;
  const { view } = session;
  const structured = reportOf({
    sessionId: session.id,
    agent: session.agent.name,
    view,
    notes,
    next: nextStep(session, end, call.name),
  });
  session.markShown();
  if (end !== 'gone' && view !== undefined && hasEnded(view)) call.bridge.delegations.collect(session);
  return { structured, text: sessionText(structured) };
}
