/** `quick_consultation_for_second_opinion`: one question, one answer, nothing changed. */
import { z } from 'zod';
import { sessionReport } from '../results/session-report.ts';
import { awaitRound, awaitSession } from './await-session.ts';
import * as fields from './fields.ts';
import { taskSettingsFor } from './task-settings.ts';
import { defineTool } from './tool.ts';

export const consult = defineTool({
  name: 'quick_consultation_for_second_opinion',
  title: 'Ask for a second opinion',
  description: `Asks an agent one question and waits for the answer. The agent may read and search, and changes nothing. Give it the context it needs: it does not see this conversation.`,
  input: z.strictObject({
    question: z.string().min(1),
    context: z
      .string()
      .optional()
      .describe('What the agent needs to know: code, an error, what was decided.'),
    model: fields.model,
    agent: fields.agent,
    waitSeconds: fields.waitSeconds,
  }),
  output: sessionReport,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  async run({ question, context, model, agent: agentName, waitSeconds }, call) {
    if (call.client.round !== undefined) return awaitRound(call, call.client.round, waitSeconds);
    const { registry, delegations, defaults } = call.bridge;
    const agent = registry.pick(agentName);
    const { dialect } = await agent.connect();
    const enforced = !dialect.ignores.includes('readOnly');
    const settings = await taskSettingsFor(
      agent,
      { readOnly: true, ...(model === undefined ? {} : { model }) },
      defaults.workspace,
    );
    call.beforeSending();
    const { session, delivery } = await delegations.start(
      agent,
      asked(question, context, enforced),
      settings,
    );
    call.awaits({ session, delivery });
    const notes = enforced
      ? []
      : [`Agent "${agent.name}" was asked to change nothing, but has no setting that makes sure of it.`];
    return awaitSession(call, {
      session,
      delivery,
      timeout: call.timeout(waitSeconds),
      notes: () => notes,
    });
  },
});

function asked(question: string, context: string | undefined, enforced: boolean): string {
  return [
    question,
    context === undefined ? '' : `Context:\n${context}`,
    enforced ? '' : 'Only answer. Do not change anything.',
  ]
    .filter((each) => each !== '')
    .join('\n\n');
}
