import { expect, test } from '@jest/globals';
import { taskAsStreamResponse } from '../../../../bridge/agents/task-as-stream-response.ts';
import { buildOfferedForms } from '../../../../bridge/approvals/forms-to-offer.ts';
import { FormHistory } from '../../../../bridge/approvals/form-history.ts';
import { PageLinks } from '../../../../bridge/approvals/page-links.ts';
import { showForm } from '../../../../bridge/approvals/withdrawable-form.ts';
import { AskingAgent } from '../../../support/asking-agent.ts';

test('R97 a form is not shown if its task has ended since the bridge built the form', async () => {
  const agent = new AskingAgent();
  const session = agent.session();
  const formHistory = new FormHistory();
  const { forms } = await buildOfferedForms({
    session,
    formHistory,
    links: new PageLinks(),
    opensUrls: false,
  });
  const [form] = forms;
  if (form === undefined) throw new Error('no form was offered');
  const shown: unknown[] = [];
  const client = { elicit: async (sent: unknown) => shown.push(sent) };
  session.applyEvent(taskAsStreamResponse(agent.task.cancel().toTask()), agent.connection);
  const { signal } = new AbortController();
  expect(await showForm({ session, form, formHistory, client, signal })).toEqual({ type: 'withdrawn' });
  expect(shown).toEqual([]);
  session.close();
});
