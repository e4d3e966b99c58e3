import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { buildTaskRow } from '../../../../a2a-server/journal/build-task-row.ts';
import { type PushConfig, PushConfigurations } from '../../../../a2a-server/push/push-configurations.ts';
import { createLogger } from '../../../../shared/runtime/logging.ts';
import { pushParts, unused } from '../../../support/push-parts.ts';

const LIMIT = 10;
const BY = { principal: 'local' };
const FORM = { wire: '1.0', approval: false, resumable: false } as const;
const ROW = buildTaskRow('task-1', [
  {
    seq: 1,
    at: 0,
    event: { type: 'task.created', sessionId: 'session-1', principal: 'local', settings: {} },
  },
]);

let configs: PushConfigurations;
let logged: string;

beforeEach(() => {
  logged = '';
  configs = new PushConfigurations({
    ...pushParts(),
    tasks: { row: () => (ROW ? Promise.resolve(ROW) : unused()), snapshot: unused, entries: unused },
    log: createLogger({
      name: 'test',
      level: 'info',
      destination: { write: (line) => void (logged += line) },
    }),
    audited: () => Promise.resolve(),
  });
});
afterEach(() => configs.stop());

function configOf(id: string, url = 'http://127.0.0.1:1/'): PushConfig {
  return { taskId: 'task-1', id, url, token: '', authentication: null };
}

const create = (id: string) => configs.create(configOf(id), BY, FORM);

async function createMany(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await create(`config-${n}`);
}

test('two requests at once cannot exceed the limit of configurations', async () => {
  await createMany(LIMIT - 1);
  const ends = await Promise.allSettled([create('one'), create('other')]);
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  expect(await configs.list('task-1', BY)).toHaveLength(LIMIT);
});

test('messages that start a task at once cannot exceed the limit of configurations', async () => {
  let taskId: string | undefined;
  let sent = 0;
  const send = (id: string) =>
    configs.createWithMessage(
      {
        configOf: () => configOf(id),
        recipient: () => Promise.resolve({ sessionId: 'session-1', ...(taskId && { taskId }) }),
        async send() {
          sent++;
          taskId = 'task-1';
          return { taskId };
        },
      },
      BY,
      FORM,
    );
  const ends = await Promise.allSettled(Array.from({ length: LIMIT + 1 }, (_, n) => send(`config-${n}`)));
  expect(ends.at(-1)).toMatchObject({ status: 'rejected', reason: { reason: 'FORBIDDEN' } });
  // E3: the refused message is not sent.
  expect(sent).toBe(LIMIT);
  expect(await configs.list('task-1', BY)).toHaveLength(LIMIT);
});

test.each([
  { token: 'two\nlines' },
  { token: '\u65E5\u672C' },
  { authentication: { scheme: 'Bearer', credentials: 'a\r\nX-Other: b' } },
])(
  'a configuration whose %j no header can contain is refused, and its message is not sent',
  async (secret) => {
    const config = { ...configOf('mine'), ...secret };
    const refusal = { reason: 'MALFORMED', message: expect.stringContaining('header') };
    await expect(configs.create(config, BY, FORM)).rejects.toMatchObject(refusal);
    const message = configs.createWithMessage(
      {
        configOf: (taskId) => ({ ...config, taskId }),
        recipient: () => Promise.resolve({ sessionId: 'session-1' }),
        send: () => Promise.reject(new Error('the message is not sent')),
      },
      BY,
      FORM,
    );
    await expect(message).rejects.toMatchObject(refusal);
  },
);

test('a refused configuration is logged, without its address', async () => {
  await createMany(LIMIT);
  await expect(create('one')).rejects.toThrow('Delete one of them first');
  const message = configs.createWithMessage(
    {
      configOf: () => configOf('two', 'http://10.0.0.1/SECRET'),
      recipient: () => Promise.resolve({ sessionId: 'session-1', taskId: 'task-1' }),
      send: () => Promise.reject(new Error('the message is not sent')),
    },
    BY,
    FORM,
  );
  await expect(message).rejects.toThrow('10.0.0.1');
  const refusals = logged.split('\n').filter((line) => line.includes('was refused'));
  expect(refusals.map((line): unknown => JSON.parse(line))).toMatchObject([
    { msg: 'a push notification configuration was refused', taskId: 'task-1', reason: 'FORBIDDEN' },
    { msg: 'a push notification configuration was refused', taskId: 'task-1', principal: 'local' },
  ]);
  expect(logged).not.toContain('SECRET');
});
