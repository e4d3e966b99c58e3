/** Tests what an MCP client sees of an action if its token may only delegate, with a real server. */
import { describe, expect, test } from '@jest/globals';
import { decisionOn } from '../../support/a2a-message.ts';
import { delegatorStage, type DelegatorStage, NEEDS_ROLE } from '../../support/delegator-stage.ts';
import { askPerson, plan, write } from '../../support/offline-plan.ts';
import { bridgeStart, CHECK, closing, DELEGATE, program, WAIT } from './support/bridge-stage.ts';
import { FORM_CLIENTS, type FormClient, type ShownForm, textOf } from './support/form-client.ts';

describe.each(FORM_CLIENTS)('%s', (_, connect) => {
  async function clientOf({ on, delegator }: DelegatorStage, forms: ShownForm[]): Promise<FormClient> {
    const start = await bridgeStart({ url: on.server.url, token: delegator.token });
    return closing(
      await connect(program, start, (form) => {
        forms.push(form);
        return { action: 'cancel' };
      }),
    );
  }

  test.each([
    ['an action', plan(write('a.txt', 'x'), { say: 'Done.' })],
    ['a question', plan(askPerson('Which?', ['red', 'blue']), { say: 'Done.' })],
  ])(
    'R122 no form and no tool offers a decision on %s, and each result says which role must decide',
    async (what, task) => {
      const people = await delegatorStage();
      const forms: ShownForm[] = [];
      const client = await clientOf(people, forms);
      const asked = await client.call(DELEGATE, {
        task,
        workspace: people.on.server.workspace,
        waitSeconds: 5,
      });
      expect(asked.structuredContent).toMatchObject({
        state: 'input_required',
        pending: [{ decisions: [] }],
      });
      expect(textOf(asked)).toContain(NEEDS_ROLE);
      expect(textOf(asked)).toContain('waits for somebody else');
      expect(textOf(asked)).toContain('Decisions: none here');
      const { sessionId } = asked.structuredContent ?? { sessionId: '' };
      const status = await client.call(CHECK, { sessionId });
      expect(textOf(status)).toContain('Another person must decide, and not here.');
      const again = await client.call(WAIT, { sessionId, waitSeconds: 1 });
      expect(textOf(again)).toContain('waits for somebody else');
      for (const result of [asked, status, again])
        expect(textOf(result)).not.toMatch(
          /send what they decide|mcp-a2a-bridge (approve|deny|answer)|does not fit/,
        );
      expect(forms).toEqual([]);
      if (what === 'a question') return;
      const [{ taskId, pending } = { taskId: '', pending: [] }] = await people.approver.peer.list({
        contextId: sessionId,
      });
      const stream = await people.approver.peer.decide(taskId, [decisionOn(pending, 'approve')]);
      await stream.rest();
      const done = await client.call(WAIT, { sessionId, waitSeconds: 20 });
      expect(done.structuredContent).toMatchObject({ state: 'completed' });
    },
  );
});
