/**
 * Builds log lines for the operator about tasks, decisions, aborts and failures, with their ids and reasons. X1: the
 * log never contains the content of tasks, which is in the journal.
 */
import { type TraceContext, traceIds } from '../../shared/net/trace-context.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import { ellipsize } from '../../shared/text/shortened-text.ts';
import type { JournalEntry, PolicyVerdict, TaskEvent, ToolOutcome } from '../task/events.ts';

interface LogLine {
  level: 'debug' | 'info' | 'warn';
  message: string;
  facts: Readonly<Record<string, unknown>>;
}

/** Logs the events of a task. @param trace the trace of the task. Its id is in each line. */
export function logJournalEntries(
  log: Logger,
  {
    taskId,
    entries,
    trace,
  }: { taskId: string; entries: readonly JournalEntry[]; trace?: TraceContext | undefined },
): void {
  const traced = trace && { traceId: traceIds(trace).traceId };
  for (const { seq, event } of entries) {
    const line = logLineOfEvent(event);
    if (line !== undefined) log[line.level]({ taskId, seq, ...traced, ...line.facts }, line.message);
  }
}

/** The maximum length of a reason in the log. A reason may be as long as a message. */
const MAX_REASON_CHARS = 300;

/** Builds the log line of an event. Returns undefined for events that do not help an operator, such as text. */
export function logLineOfEvent(event: TaskEvent): LogLine | undefined {
  switch (event.type) {
    case 'task.created':
      return info('a task starts', { sessionId: event.sessionId, principal: event.principal });
    case 'message.received':
      return debug('a message arrived', { messageId: event.message.messageId, channel: event.channel });
    case 'input.required':
      return info('a task waits for a person', {
        callIds: event.pending.map(({ callId }) => callId),
        expiresAt: event.expiresAt ?? undefined,
      });
    case 'auth.required':
      return info('a task waits for a sign-in', {});
    case 'tool.requested':
      return verdictLine(event.verdict, { callId: event.call.callId, tool: event.call.tool });
    case 'tool.decided': {
      const { callId, tool, decision, scope, by, reason, presence } = event;
      return info('a person decided', {
        callId,
        tool,
        decision,
        scope,
        ...by,
        reason: cutReason(reason),
        ...(presence && { passkey: presence.passkey.name }),
      });
    }
    case 'grant.revoked':
      return info('a person revoked trust', { grantIds: event.grantIds, ...event.by });
    case 'tool.asked':
      return info('a tool asks a person', { callId: event.call.callId, askedBy: event.askedBy });
    case 'tool.withdrew':
      return info('a tool withdrew its question', idsOf(event));
    case 'tool.outdated':
      return info('an action changed; the server asks again', idsOf(event));
    case 'tool.started':
      return debug('a tool starts', idsOf(event));
    case 'abort.requested': {
      const { callId, toolId, principal, reason } = event;
      return info('an abort was requested through another server', {
        callId,
        toolId,
        principal,
        reason: cutReason(reason),
      });
    }
    case 'tool.finished':
      return outcomeLine(event.outcome, idsOf(event));
    case 'tool.interrupted':
      return warn('a crash lost the outcome of a tool', { ...idsOf(event), rerun: event.rerun });
    case 'process.orphaned':
      return warn('a process of a tool may still run', { ...idsOf(event), group: event.group });
    case 'workspace.unavailable':
      return warn('no server can open the workspace of a task', { workspace: event.workspace });
    case 'task.queued':
      return debug('a task waits to begin', { ahead: event.ahead, reason: cutReason(event.text) });
    case 'turn.abandoned':
      return warn('a model turn broke off', { turn: event.turn, reason: cutReason(event.reason) });
    case 'model.unavailable':
      return warn('the model is not available', {
        attempts: event.attempts,
        nextTry: new Date(event.until).toISOString(),
        reason: cutReason(event.text),
      });
    case 'task.completed':
      return info('a task ended', { state: 'completed' });
    case 'task.canceled':
      return info('a task ended', { state: 'canceled', ...event.by, reason: cutReason(event.reason) });
    case 'task.failed':
      return warn('a task ended', { state: 'failed', reason: cutReason(event.message) });
    case 'task.rejected':
      return warn('a task ended', { state: 'rejected', reason: cutReason(event.message) });
    case 'task.working':
      return debug('a task works', {});
    case 'instructions.read':
    case 'turn.started':
    case 'turn.finished':
    case 'turn.noted':
    case 'text.delta':
    case 'reasoning.delta':
    case 'artifact.updated':
    case 'agent.session':
    case 'context.summarised':
    case 'context.clipped':
    case 'context.exceeded':
    case 'tool.output':
    case 'files.saved':
    case 'todos.updated':
    case 'todos.reminded':
      return undefined;
  }
}

function verdictLine(verdict: PolicyVerdict, call: { callId: string; tool: string }): LogLine {
  switch (verdict.type) {
    case 'refuse':
      return info('a call was refused', { ...call, reason: cutReason(verdict.message) });
    case 'allow':
      return debug('a call may run without asking', { ...call, because: verdict.because });
    case 'ask':
    case 'question':
      return debug('a call must be decided', { ...call, rule: 'rule' in verdict ? verdict.rule : undefined });
  }
}

/**
 * Builds the log line of a tool's outcome. It does not contain the outcome's text, which may be the output of a
 * command.
 */
function outcomeLine(outcome: ToolOutcome, ids: Readonly<Record<string, unknown>>): LogLine {
  switch (outcome.type) {
    case 'ok':
      return debug('a tool ended', ids);
    case 'error':
      return warn('a tool failed', ids);
    case 'stopped':
      return info('a tool was stopped', {
        ...ids,
        reason: outcome.reason,
        message: cutReason(outcome.message),
        confirmed: outcome.confirmed,
      });
  }
}

function idsOf({
  callId,
  tool,
  toolId,
}: {
  callId: string;
  tool: string;
  toolId?: string;
}): LogLine['facts'] {
  return { callId, tool, ...(toolId !== undefined && { toolId }) };
}

function cutReason(reason: string | null): string | undefined {
  if (reason === null || reason === '') return undefined;
  return ellipsize(reason, MAX_REASON_CHARS);
}

const debug = (message: string, facts: LogLine['facts']): LogLine => ({ level: 'debug', message, facts });
const info = (message: string, facts: LogLine['facts']): LogLine => ({ level: 'info', message, facts });
const warn = (message: string, facts: LogLine['facts']): LogLine => ({ level: 'warn', message, facts });
