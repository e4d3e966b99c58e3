/** Tests what the server offers a reader whose token lacks the role that decisions need. */
import { beforeEach, expect, test } from '@jest/globals';
import { TOOL_APPROVAL_EXTENSION } from '../../../shared/protocol/extensions.ts';
import { NEEDS_ROLE } from '../../support/delegator-stage.ts';
import { request } from './test-server.ts';
import { startTenantServer, type Person, type TenantServer } from './tenant-server.ts';

let people: TenantServer;
let taskId: string;

beforeEach(async () => {
  people = await startTenantServer();
  ({ taskId } = await people.delegated('ci'));
});

/** Returns the task as this person reads it, with the approval extension. */
const readBy = (person: Person) =>
  request(people.server, {
    method: 'GET',
    path: `/tasks/${taskId}`,
    headers: { ...people.as(person), 'a2a-extensions': TOOL_APPROVAL_EXTENSION },
  });
const pendingOf = (body: unknown): unknown =>
  Object(body).status.message.parts.find(({ data }: { data?: unknown }) => data !== undefined).data.pending;

test('R122 without the role approve, no decision is offered, and the action says which role must decide', async () => {
  expect(pendingOf((await readBy('ci')).body)).toMatchObject([
    { decisions: [], approver: { role: { needed: 'approve', held: ['delegate'], tenant: 'acme' } } },
  ]);
  expect((await people.get('ci', `/tasks/${taskId}`)).text).toContain(`${NEEDS_ROLE} You cannot decide it.`);
});

test.each<Person>(['olga', 'ray'])(
  'R122 %s of the same tenant may only watch, and is offered nothing',
  async (person) => {
    expect(pendingOf((await readBy(person)).body)).toMatchObject([
      { decisions: [], approver: { role: { needed: 'approve' } } },
    ]);
  },
);

test('R122 a colleague with the role gets all decisions of the same action, and decides', async () => {
  const [action] = Object(pendingOf((await readBy('ann')).body));
  expect(action).toMatchObject({ decisions: ['approve', 'deny', 'edit'] });
  expect(action).not.toHaveProperty('approver');
  const part = await people.decision(taskId, 'approve', 'acme/ci');
  const message = { message: { messageId: 'm-ann', role: 'ROLE_USER', parts: [part], taskId } };
  expect((await people.post('ann', '/message:send', message)).status).toBe(200);
});
