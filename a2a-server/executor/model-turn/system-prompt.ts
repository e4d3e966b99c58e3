import type { TaskSettings } from '../../../shared/protocol/tool-approval.ts';
import { taskModeOf } from '../../policy/task-mode.ts';
import { instructionsPrompt } from '../../task/instructions.ts';
import type { Snapshot } from '../../task/snapshot.ts';
import type { Workspace } from '../../tools/workspace/workspace.ts';

export function systemPrompt(
  workspace: Pick<Workspace, 'root'>,
  { settings, instructions }: Pick<Snapshot, 'settings' | 'instructions'>,
): string {
  return [
    'A person has delegated a task to you. Carry it out with your tools.',
    `Your workspace is ${workspace.root}. File tools take paths relative to it and reach no file outside it.`,
    approvalsPrompt(settings),
    'Make independent calls in one turn. At the end, say in a few sentences what you did, what you did not do, and what the person should know.',
    instructionsPrompt(instructions),
  ]
    .filter((section) => section !== '')
    .join('\n');
}

const DENIALS =
  'The person may deny a call, with a reason, or change its input. The result of the call tells you. Respect a denial: do not request the same thing in another form.';

function approvalsPrompt(settings: TaskSettings): string {
  const mode = taskModeOf(settings);
  if (mode === 'plan')
    return 'Write only a plan: tools with side effects are not available. First read what the plan depends on. Then write the plan step by step: which files change and how, which commands run and in what order, how to check the result, and what the person must decide. A person reviews the plan before anyone carries it out.';
  if (settings.readOnly) return 'Only read: tools with side effects are not available.';
  switch (mode) {
    case 'auto':
      return 'Your tool calls run without approval. Be careful.';
    case 'accept-edits':
      return `Your changes to files run without approval. A person decides on each other tool call with side effects. ${DENIALS}`;
    case 'ask':
      return `A person decides on each tool call with side effects. ${DENIALS}`;
  }
}
