/**
 * The MCP tool `quick_consultation_for_second_opinion`: asks one question and returns the answer. The agent changes
 * nothing.
 */
import { z } from 'zod';
import { sessionResultSchema } from '../reports/session-result.ts';
import { readToolCallAttachments } from './read-tool-call-attachments.ts';
import { defaultWorkspace } from './tool-call-workspaces.ts';
import { continueAfterFormRound } from './await-session.ts';
import { awaitStartedTask, startTask, joinIdenticalTask } from './start-or-join-task.ts';
import * as fields from '../tool/input-fields.ts';
import { withDefaultWorkspace, withDefaultTier } from './settings-for-agent.ts';
import { defineBridgeTool } from '../tool/define-tool.ts';
import { joinTexts } from '../../../shared/text/join-texts.ts';

export const consultTool = defineBridgeTool({
  name: 'quick_consultation_for_second_opinion',
  title: 'Ask for a second opinion',
  description: `Asks an agent one question and waits for the answer. The agent may read and search, and changes nothing. Give it the context it needs: it does not see this conversation.`,
  input: z.strictObject({
    question: z.string().min(1).describe('The question.'),
    context: z
      .string()
      .optional()
      .describe('What the agent needs to know: code, an error, what was decided.'),
    model: fields.modelSchema,
    files: fields.attachedFilesSchema,
    agent: fields.agentSchema,
    waitSeconds: fields.waitSecondsSchema,
  }),
  output: sessionResultSchema,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: false },
  async run({ question, context, model, files, agent: agentName, waitSeconds }, call) {
    if (call.client.round !== undefined) return continueAfterFormRound(call, call.client.round, waitSeconds);
    const agent = call.bridge.registry.pick(agentName);
    const workspace = await defaultWorkspace(call);
    const { dialect } = await agent.connect();
    const enforced = !dialect.ignores.includes('readOnly');
    const settings = await withDefaultWorkspace(
      agent,
      await withDefaultTier(agent, { readOnly: true, ...(model === undefined ? {} : { model }) }, 'smart'),
      workspace,
    );
    const attached = await readToolCallAttachments(call, { files, directory: workspace });
    const beginning = { agent, text: questionMessage(question, context, enforced), settings, ...attached };
    const begun = (await joinIdenticalTask(call, beginning)) ?? (await startTask(call, beginning));
    const unsure = enforced
      ? []
      : [`Agent "${agent.name}" was asked to change nothing, but has no setting that ensures this.`];
    return awaitStartedTask(call, { ...begun, notes: [...begun.notes, ...unsure] }, { waitSeconds });
  },
});

function questionMessage(question: string, context: string | undefined, enforced: boolean): string {
  return joinTexts('\n\n', [
    question,
    context === undefined ? '' : `Context:\n${context}`,
    enforced ? '' : 'Only answer. Do not change anything.',
  ]);
}
