/** Formats the content of a task's resources. Pure. */
import { type Message, Role } from '@a2a-js/sdk';
import type { ArtifactRole } from '../../../shared/protocol/tool-approval.ts';
import { visibleJson, visibleLine, visibleText } from '../../../shared/text/visible-text.ts';
import { messageText } from '../../dialects/parts.ts';
import { agentOutputText, pendingReport, buildSessionReport } from '../reports/session-report.ts';
import { withoutShownInput, sessionResultOf } from '../reports/session-result.ts';
import { pendingActionText } from '../reports/session-text.ts';
import type { TaskView } from '../../sessions/session/observed-task.ts';
import type { TaskResource } from '../../sessions/task-uri.ts';
import { joinTexts } from '../../../shared/text/join-texts.ts';

export interface TaskWithMessages {
  agent: string;
  view: TaskView;
  /** The messages that the agent has stored, oldest first. */
  history: readonly Message[];
}

export function taskResourceContent(part: TaskResource, task: TaskWithMessages): string {
  switch (part) {
    case 'state':
      return stateText(task);
    case 'transcript':
      return transcriptOf(task);
    case 'artifacts':
      return artifactsOf(task.view);
    case 'diff':
      return diffOf(task);
  }
}

/**
 * Returns the output of a task. The agent's answer comes first, because the offset in a resource URI counts from its
 * beginning.
 */
function artifactsOf(view: TaskView): string {
  const beside = view.outputs.flatMap(({ aside, text }) =>
    aside === undefined || text === '' ? [] : [`## ${headOf(aside)}\n\n${text.trimEnd()}`],
  );
  return joinTexts('\n\n', [agentOutputText(view), ...beside]);
}

function headOf(aside: ArtifactRole): string {
  return aside.role === 'todos' ? 'Todos' : `Output of ${visibleLine(aside.title)} (${aside.toolId})`;
}

/** Returns the report without the output, which is a resource of its own. */
function stateText({ agent, view }: TaskWithMessages): string {
  const report = buildSessionReport({
    sessionId: view.sessionId,
    agent,
    state: view.state,
    problem: undefined,
    view: { ...view, outputs: [] },
    notes: [],
    next: '',
  });
  const { output, next: _, ...state } = sessionResultOf(report, { type: 'whole' });
  return visibleJson(
    JSON.stringify({ ...state, message: state.message === '' ? output : state.message }, null, 2),
  );
}

function transcriptOf({ agent, view, history }: TaskWithMessages): string {
  const output = agentOutputText(view);
  return [
    `# Task ${view.taskId} of session ${view.sessionId} (${agent}): ${view.state}`,
    ...history.map(
      (message) =>
        `## ${message.role === Role.ROLE_USER ? 'Person' : 'Agent'}\n\n${visibleText(messageText(message))}`,
    ),
    ...(view.calls.length === 0
      ? []
      : [
          `## Tool calls\n\n${view.calls.map(({ tool, title, state, summary }) => `- ${visibleLine(tool)}: ${visibleLine(title)} — ${state}${summary === null || summary === '' ? '' : `: ${visibleLine(summary)}`}`).join('\n')}`,
        ]),
    ...(output === '' ? [] : [`## Output\n\n${visibleText(output)}`]),
  ].join('\n\n');
}

/** Returns the pending actions with their complete previews. A client can read a long resource in pieces. */
function diffOf({ view }: TaskWithMessages): string {
  const pending = view.pending.map((action) => withoutShownInput(pendingReport(action)));
  if (pending.length === 0) return 'Nothing waits for a decision.';
  return pending.map((action, index) => pendingActionText(action, index + 1, pending.length)).join('\n\n');
}
