/** Writes the system prompt: the workspace, how tool calls are approved, and the workspace's instructions. */
import type { TaskSettings } from '../../shared/protocol/tool-approval.ts';
import { taskModeOf } from '../policy/mode.ts';
import { instructionsPrompt } from '../task/instructions.ts';
import type { Snapshot } from '../task/snapshot.ts';
import type { Workspace } from '../tools/workspace/workspace.ts';

export function systemPrompt(
  workspace: Workspace,
  { settings, instructions }: Pick<Snapshot, 'settings' | 'instructions'>,
): string {
  return [
    'You carry out work that a person has delegated to you, with the tools you are given.',
    `Your workspace is ${workspace.root}; file tools take paths relative to it and reach nothing outside.`,
    approvals(settings),
    'Ask for independent calls in one turn. When the work is done, say in a few sentences what was done, what was not, and anything the person should know.',
    instructionsPrompt(instructions),
  ]
    .filter((section) => section !== '')
    .join('\n');
}

const DENIALS =
  'They may deny it, with a reason, or change its input; the result tells you. Respect a denial: do not ask for the same thing again in another form.';

function approvals(settings: TaskSettings): string {
  const mode = taskModeOf(settings);
  if (mode === 'plan')
    return 'You are asked for a plan and nothing else: tools with side effects are not available. Look at whatever the plan depends on, then lay it out step by step: which files change and how, which commands run and in what order, how one sees that it worked, and what the person has to decide. Somebody goes over it before any of it is done.';
  if (settings.readOnly) return 'You may only look: tools with side effects are not available.';
  switch (mode) {
    case 'auto':
      return 'Your tool calls run without a question. Be careful all the same.';
    case 'accept-edits':
      return `Your changes to files run without a question. A person decides on each other tool call that has side effects. ${DENIALS}`;
    case 'ask':
      return `A person decides on each tool call that has side effects. ${DENIALS}`;
  }
}
