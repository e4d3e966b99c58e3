/** The MCP tool `delegate_task_to_assistant`: starts a task, or continues a session. */
import { z } from 'zod';
import { taskModeSchema, type TaskSettings } from '../../../shared/protocol/tool-approval.ts';
import type { Session } from '../../sessions/session/session.ts';
import { quotedText, visibleLine } from '../../../shared/text/visible-text.ts';
import { hasEnded } from '../../sessions/session/observed-task.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { readToolCallAttachments } from './read-tool-call-attachments.ts';
import { defaultWorkspace } from './tool-call-workspaces.ts';
import { askStartPermission, checkCallWorkspace } from './ask-task-start-permission.ts';
import { decideHintForModel, humanOnlyGuidance, refuseIfHumanOnly } from '../reports/human-only-guidance.ts';
import { sessionResultSchema } from '../reports/session-result.ts';
import { continueAfterFormRound } from './await-session.ts';
import { awaitStartedTask, startTask, joinIdenticalTask } from './start-or-join-task.ts';
import { whenAgentReadsMessage } from '../reports/when-agent-reads-message.ts';
import * as fields from '../tool/input-fields.ts';
import {
  withMappedWorkspace,
  withDefaultWorkspace,
  unsupportedSettingsNotes,
  withDefaultTier,
} from './settings-for-agent.ts';
import { defineBridgeTool } from '../tool/define-tool.ts';
import type { ToolCallContext } from '../tool/tool.ts';

export const delegateTaskTool = defineBridgeTool({
  name: 'delegate_task_to_assistant',
  title: 'Delegate a task',
  description: (
    approvals,
  ) => `Hands a task to an agent, which works on it with its own model and tools. Waits up to waitSeconds and returns the result, the actions that wait for a person's approval, or the sessionId to go on with.

With a sessionId it goes on in that session: a live task gets the message unless it waits for a decision or an answer, an ended one is followed by the session's next task, with the conversation so far.

Actions with side effects wait for the person's approval. ${decideHintForModel(approvals)} autoExecute, and the modes auto and accept-edits, run things without asking: set them only when the person said so. The task outlives this call: if it takes longer, wait_for_task waits on. If an answer is slow, do not delegate the same task again.`,
  input: z.strictObject({
    task: z.string().min(1).describe('What to do, in words, with all the agent needs to know.'),
    agent: fields.agentSchema,
    workspace: fields.workspaceSchema.optional(),
    autoExecute: z.boolean().optional().describe('Run every tool without asking. Default: false.'),
    mode: taskModeSchema
      .optional()
      .describe(
        'What runs without approval: ask (no side effects), accept-edits (file changes), auto (everything), plan (nothing: it writes a plan). Default: ask.',
      ),
    sessionId: fields.sessionIdSchema.optional(),
    model: fields.modelSchema,
    files: fields.attachedFilesSchema,
    waitSeconds: fields.waitSecondsSchema,
  }),
  output: sessionResultSchema,
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  card: 'shows',
  alwaysLoad: true,
  async run(
    { task, agent: agentName, workspace, autoExecute, mode, sessionId, model, files, waitSeconds },
    call,
  ) {
    if (call.client.round !== undefined) return continueAfterFormRound(call, call.client.round, waitSeconds);
    const { registry, sessions } = call.bridge;
    const placed = await checkCallWorkspace(call, workspace);
    const wanted: TaskSettings = {
      ...(placed === undefined ? {} : { workspace: placed.path }),
      ...(autoExecute === undefined ? {} : { autoExecute }),
      ...(mode === undefined ? {} : { mode }),
      ...(model === undefined ? {} : { model }),
    };
    const going = sessionId === undefined ? undefined : await sessions.find(sessionId, { agent: agentName });
    const agent = going?.agent ?? registry.pick(agentName);
    if (autoExecute === true || mode === 'auto' || mode === 'accept-edits') refuseIfHumanOnly(call);
    const settings =
      going === undefined
        ? await withDefaultWorkspace(
            agent,
            await withDefaultTier(agent, wanted, 'fast'),
            await defaultWorkspace(call),
          )
        : withMappedWorkspace(agent, wanted);
    const attached = await readToolCallAttachments(call, { files, directory: placed?.path });
    const beginning = { agent, text: task, settings, going, ...attached };
    const again = await joinIdenticalTask(call, beginning);
    if (again !== undefined) return awaitStartedTask(call, again, { waitSeconds });
    const unasked = autoExecute === true || mode === 'auto';
    const interim = await askStartPermission(call, { task, placed, unasked });
    if (interim !== undefined) return { interim };
    await going?.refresh();
    // Connecting may take long, and meanwhile the task may ask for a decision. So `refuseWhileDeciding` comes after the
    // connection.
    const acknowledgement = going === undefined ? undefined : await whenRead(going);
    if (going !== undefined) refuseWhileDeciding(going, call);
    const begun = await startTask(call, beginning);
    const notes = [...begun.notes, ...(await unsupportedSettingsNotes(agent, wanted))];
    const started = { ...begun, notes, acknowledgement };
    return awaitStartedTask(call, started, { waitSeconds }).catch(async (error: unknown) => {
      // The task asked for a decision while the message was being sent.
      if (error instanceof ProductError && error.reason === 'DECISION_NEEDED') {
        await begun.session.fetchTask();
        refuseWhileDeciding(begun.session, call);
      }
      throw error;
    });
  },
});

/**
 * Explains when the agent reads a message to its running task. Returns undefined if no task runs.
 * @throws ProductError
 */
async function whenRead(session: Session): Promise<string | undefined> {
  if (session.view === undefined || session.over) return undefined;
  const { dialect } = await session.agent.connect();
  const { view } = session;
  return view === undefined || hasEnded(view) ? undefined : whenAgentReadsMessage(view, dialect.name);
}

/**
 * Throws if the session's task waits for a decision. D2: a decision is valid only for what the person saw, so it
 * contains a code. A plain message contains none, and the agent might treat it as an approval.
 * @throws ProductError DECISION_NEEDED
 */
function refuseWhileDeciding(session: Session, call: ToolCallContext): void {
  const { id, view } = session;
  if (view === undefined || hasEnded(view)) return;
  const { pending, question } = view;
  const guidance = humanOnlyGuidance(session, call);
  if (pending.length > 0) {
    const calls = pending.map(({ callId, title }) => `callId "${callId}" (${visibleLine(title)})`).join(', ');
    const how =
      guidance ??
      `Show the person what is pending and send their decision with ${call.name('approve_or_deny_pending_action')}: sessionId "${id}", ${calls}.`;
    throw new ProductError(
      'DECISION_NEEDED',
      `The task waits for a decision and accepts no message before it. Nothing was sent. ${how} To change course, deny with a reason.`,
      { facts: { sessionId: id, callIds: pending.map(({ callId }) => callId).join(' ') } },
    );
  }
  if (question === null) return;
  const how =
    guidance ??
    `Ask the person, then call ${call.name('approve_or_deny_pending_action')} with sessionId "${id}", callId "${question.id}", shown "${question.shown}", decision "answer" and their words in "answer". To change course, cancel the task.`;
  throw new ProductError(
    'DECISION_NEEDED',
    `The agent asks a question, and a message would answer it; nothing was sent. It asks:\n${quotedText(question.text).text}\n${how}`,
    { facts: { sessionId: id, callIds: question.id } },
  );
}
