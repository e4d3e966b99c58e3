/** Tests four eyes: the approver is not a sender of the task's messages, over every channel. */
import { beforeEach, expect, test } from '@jest/globals';
import { TOOL_APPROVAL_EXTENSION } from '../../../shared/protocol/extensions.ts';
import { userMessage } from './test-server.ts';
import { startTenantServer, type Person, type TenantServer } from './tenant-server.ts';

let people: TenantServer;
let taskId: string;

beforeEach(async () => {
  people = await startTenantServer({ fourEyes: true });
  ({ taskId } = await people.delegated('ann'));
});

const decide = async (person: Person, word: string, channel?: string) => {
  const part = Object(await people.decision(taskId, word));
  const data = { ...part.data, ...(channel !== undefined && { channel }) };
  return people.post(person, '/message:send', userMessage([{ data }], { taskId }));
};
const stateOf = async () => (await people.snapshot(taskId)).status.state;

test.each([undefined, 'form', 'tool', 'page', 'cli'])(
  'X1 the delegator cannot approve over the channel %s, and the error says who can',
  async (channel) => {
    const { status, text } = await decide('ann', 'approve', channel);
    expect(status).toBe(400);
    expect(text).toContain('OTHER_APPROVER_REQUIRED');
    expect(text).toContain('Any other principal of the tenant acme with the role approve can');
    expect(await stateOf()).toBe('input-required');
  },
);

test('X1 the delegator cannot approve with the word approve', async () => {
  const { text } = await people.post('ann', '/message:send', userMessage('approve', { taskId }));
  expect(text).toContain('OTHER_APPROVER_REQUIRED');
  expect(await stateOf()).toBe('input-required');
});

test('another principal of the tenant approves', async () => {
  expect((await decide('bob', 'approve')).status).toBe(200);
  expect(await stateOf()).toBe('completed');
});

test('the delegator can deny', async () => {
  expect((await decide('ann', 'deny')).status).toBe(200);
});

test.each([{ autoExecute: true }, { mode: 'auto' }, { mode: 'accept-edits' }])(
  'X1 a task cannot begin with %j',
  async (settings) => {
    const message = userMessage('Create b.md with x', { metadata: { [TOOL_APPROVAL_EXTENSION]: settings } });
    const { text } = await people.post('ann', '/message:send', message);
    expect(text).toContain('OTHER_APPROVER_REQUIRED');
  },
);

test('without a tenant, nobody else can approve, and the error says so', async () => {
  const { taskId: alone } = await people.delegated('zed');
  const part = await people.decision(alone, 'approve', 'zed');
  const { text } = await people.post('zed', '/message:send', userMessage([part], { taskId: alone }));
  expect(text).toContain('zed has no tenant, so nobody else can');
});
