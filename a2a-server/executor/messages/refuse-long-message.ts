/** Refuses a message that leaves too little of the context window of the task's model. */
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { TaskSettings } from '../../../shared/protocol/tool-approval.ts';
import type { Models } from '../../models/model.ts';
import { isReadOnlyMode } from '../../policy/task-mode.ts';
import { tokensBesideConversation } from '../../task/conversation/context-reduction.ts';
import type { UserMessage } from '../../task/events.ts';
import { maxInstructionChars } from '../../task/instructions.ts';
import {
  maxMessageTokens,
  messageTokens,
  type LiveAndPreviousTask,
  SHORT_MESSAGE_TOKENS,
} from '../../task/conversation/message-limit.ts';
import { messageFiles } from '../../task/task-files.ts';
import type { Toolbox } from '../../tools/toolbox.ts';
import type { Workspace } from '../../tools/workspace/workspace.ts';
import { readInstructions } from '../model-turn/read-instructions.ts';
import { systemPrompt } from '../model-turn/system-prompt.ts';

interface PromptSources {
  models: Models;
  toolbox: Pick<Toolbox, 'declarations'>;
  openWorkspace: (path: string | undefined) => Promise<Workspace>;
}

/**
 * Refuses a message that would leave the task no space to continue. The estimate counts the instructions, the tools,
 * and the messages that are never shortened. It does not count the tools of an MCP server that is still starting.
 * @throws ProductError TOO_LARGE; UNKNOWN_MODEL or UNKNOWN_WORKSPACE if the message is long and the task's model or
 * workspace does not exist
 */
export async function refuseLongMessage(
  message: UserMessage,
  { settings, live, previous }: LiveAndPreviousTask & { settings: TaskSettings },
  { models, toolbox, openWorkspace }: PromptSources,
): Promise<void> {
  const tokens = messageTokens(message);
  if (message.command !== undefined || tokens <= SHORT_MESSAGE_TOKENS) return;
  const model = models.resolve(settings.model);
  const { id, contextWindow: window, inputModes } = model;
  if (window === undefined) return;
  const workspace = await openWorkspace(settings.workspace);
  // A task reads the instruction files before its first turn, and then keeps their text. So they are read here only
  // for a task without a turn.
  const read = live !== undefined && live.turns > 0;
  const instructions = read
    ? live.instructions
    : model.readsInstructions === true
      ? await readInstructions(workspace, maxInstructionChars(window))
      : [];
  const beside = tokensBesideConversation(
    systemPrompt(workspace, { settings, instructions }),
    toolbox.declarations({ readOnly: isReadOnlyMode(settings) }),
  );
  const most = maxMessageTokens({ live, previous }, { window, beside, model: id, basis: '', inputModes });
  if (tokens <= most) return;
  const inFiles = messageFiles(message).length > 0 ? 'Send fewer or smaller files. ' : '';
  const later = live === undefined ? '' : 'Send it after the agent has answered. ';
  throw new ProductError(
    'TOO_LARGE',
    `The message has about ${String(tokens)} tokens. To the model ${id} it may have ${String(most)}: the instructions and tools take about ${String(beside)} of its context window of ${String(window)}, and the answer needs space. Nothing was sent to it. ${inFiles}${later}Put the text into a file of the workspace and name the file in the message, or choose a model with a larger window.`,
    { facts: { model: id, tokens: String(tokens), most: String(most) } },
  );
}
