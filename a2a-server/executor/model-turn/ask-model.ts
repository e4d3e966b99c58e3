/** Runs the next model turn of a task. If needed, shortens the conversation first. */
import { createHash } from 'node:crypto';
import { onAbort, type AbortScope } from '../../../shared/runtime/abort.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { AgentCommands } from '../../agent-commands/agent-commands.ts';
import type { Journal } from '../../journal/journal.ts';
import type { Model, Models } from '../../models/model.ts';
import { isReadOnlyMode, taskModeOf } from '../../policy/task-mode.ts';
import type { Policy } from '../../policy/create-policy.ts';
import type { ConversationFile } from '../../task/conversation/select-files-for-model.ts';
import { maxInstructionChars } from '../../task/instructions.ts';
import { isTerminal, newestMessage, type Snapshot } from '../../task/snapshot.ts';
import type { Toolbox } from '../../tools/toolbox.ts';
import type { Workspace } from '../../tools/workspace/workspace.ts';
import { ensureContextFits } from './fit-context-window.ts';
import type { IdGenerator } from '../task-journal/id-generator.ts';
import { runModelTurn } from './model-turn.ts';
import { prepareCall } from './prepare-call.ts';
import { readInstructions } from './read-instructions.ts';
import type { AbortCause } from '../abort-scopes/abort-cause.ts';
import { systemPrompt } from './system-prompt.ts';
import type { TaskJournal } from '../task-journal/task-journal.ts';
import { wholeUnitDurationText, type TimeLimits } from '../abort-scopes/time-limits.ts';

export interface AskModelOptions {
  taskJournal: TaskJournal;
  journal: Pick<Journal, 'content'>;
  clock: Clock;
  ids: IdGenerator;
  models: Models;
  commands: AgentCommands;
  toolbox: Toolbox;
  /** Returns the policy that applies now. */
  policy: () => Policy;
  limits: Pick<TimeLimits, 'modelMs'>;
}

interface ModelCallContext {
  workspace: Workspace;
  earlier: readonly Snapshot[];
  /** The abort scope of the turn. The scope of the model call is its child. */
  turn: AbortScope<AbortCause>;
  /** The abort scope of the execution's loop. Its abort ends the model call. */
  loop: AbortScope<AbortCause>;
  /** The number of bytes that the turn may write to the journal. */
  bytes: number;
}

/**
 * Runs the next turn of a task. Resolves when the journal has the turn, or when the task has changed.
 * @throws ProductError STORAGE
 */
export async function askModel(
  snapshot: Snapshot,
  options: AskModelOptions,
  place: ModelCallContext,
): Promise<void> {
  const { taskJournal, journal, models, commands, toolbox, ids, policy, clock, limits } = options;
  const { workspace, earlier, turn, loop } = place;
  const { settings } = snapshot;
  const scope = turn.child();
  const { signal } = scope;
  const stopListening = onAbort(loop.signal, () => loop.reason && scope.abort(loop.reason));
  const cancelTimer = limitModel(scope, clock, limits.modelMs);
  try {
    if (await journalInstructions(snapshot, options, workspace)) return;
    const instructions = systemPrompt(workspace, snapshot);
    const tools = toolbox.declarations({ readOnly: isReadOnlyMode(settings) });
    const modelFor = (s: Snapshot): Model =>
      commandOf(s, commands, workspace) ?? models.resolve(settings.model);
    const { endpoint } = modelFor(snapshot);
    const turnOptions = {
      taskJournal,
      clock,
      modelFor,
      instructions,
      tools,
      basis: createHash('sha256')
        .update(JSON.stringify([instructions, tools, ...(endpoint === undefined ? [] : [endpoint])]))
        .digest('base64url'),
      earlier,
      readFile: ({ taskId, hash }: ConversationFile) => journal.content(taskId, hash),
      workspace: workspace.root,
      scope,
      bytes: place.bytes,
    };
    if (!(await ensureContextFits(snapshot, turnOptions))) return;
    await runModelTurn(snapshot.taskId, {
      ...turnOptions,
      prepare: (request) =>
        prepareCall(request, {
          principal: snapshot.principal,
          toolbox,
          workspace,
          ids,
          policy: policy(),
          clock,
          signal,
          acceptsEdits: taskModeOf(snapshot.settings) === 'accept-edits',
        }),
    });
  } finally {
    cancelTimer?.();
    stopListening();
    scope.close();
  }
}

/**
 * Journals the workspace's instruction files before the model's first turn. All its turns then send the same text, even
 * after a restart. Returns true if the task has changed.
 */
async function journalInstructions(
  snapshot: Snapshot,
  { taskJournal, models, commands }: AskModelOptions,
  workspace: Workspace,
): Promise<boolean> {
  if (hasModelTurn(snapshot) || snapshot.instructions.length > 0) return false;
  if (commandOf(snapshot, commands, workspace) !== undefined) return false;
  const model = models.resolve(snapshot.settings.model);
  if (model.readsInstructions !== true) return false;
  const files = await readInstructions(workspace, maxInstructionChars(model.contextWindow));
  if (files.length === 0) return false;
  await taskJournal.change(snapshot.taskId, (s) =>
    isTerminal(s) || s.turns !== snapshot.turns ? [] : [{ type: 'instructions.read', files }],
  );
  return true;
}

/** True if a model has answered in this task. A turn that ran an agent command does not count. */
function hasModelTurn({ exchanges }: Snapshot): boolean {
  return exchanges.some((exchange, index) => {
    if (exchange.type !== 'turn') return false;
    const asked = exchanges.slice(0, index).findLast(({ type }) => type === 'message');
    return asked?.type !== 'message' || asked.message.command === undefined;
  });
}

/**
 * Returns a model that runs the agent command in the newest message. Returns undefined if that message is not a
 * command.
 */
function commandOf(snapshot: Snapshot, commands: AgentCommands, workspace: Workspace): Model | undefined {
  const command = newestMessage(snapshot)?.command;
  return command && commands.model(command, { snapshot, workspace });
}

function limitModel(
  scope: AbortScope<AbortCause>,
  clock: Clock,
  limitMs: number | null,
): (() => void) | undefined {
  if (limitMs === null) return undefined;
  const message = `The model did not answer within its time limit of ${wholeUnitDurationText(limitMs)}.`;
  return clock.after(limitMs, () => scope.abort({ reason: 'timeout', message }));
}
