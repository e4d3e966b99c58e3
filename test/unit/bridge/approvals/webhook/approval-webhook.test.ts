import { expect, test } from '@jest/globals';
import { ApprovalWebhook } from '../../../../../bridge/approvals/webhook/approval-webhook.ts';
import { WebhookPosts } from '../../../../../bridge/state/webhook-posts.ts';
import { callWithFakes } from '../../../../support/call-with-fakes.ts';
import { endedProcessId, openDatabase } from '../../../../support/bridge-database.ts';
import { signal } from '../../../../support/signal.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

const open = (...args: Parameters<typeof ApprovalWebhook.open>) => ApprovalWebhook.open(...args);

test('an error of the database while a post is left to another bridge is logged', async () => {
  const state = await temporaryDirectory();
  const killed = new WebhookPosts(await openDatabase(state, await endedProcessId()));
  await killed.take({ agent: 'a', sessionId: 's', taskId: 't', callId: 'c', shown: 'h' });
  const database = await openDatabase(state);
  const logged = signal();
  const warnings: unknown[] = [];
  const parts = {
    settings: { format: 'json' as const, url: 'http://127.0.0.1:1', afterSeconds: 60, headers: {} },
    env: {},
    database,
    registry: { all: [{ name: 'a' }], find: () => undefined },
    outbox: {},
    live: { onAdded: () => undefined, onRemoved: () => undefined },
    sessions: {
      find: async () => {
        database.run('PRAGMA query_only = 1');
        throw new Error('There is no such session.');
      },
    },
    log: {
      debug: () => undefined,
      warn: (line: unknown) => {
        warnings.push(line);
        logged.happen();
      },
    },
  };
  await callWithFakes(open, parts);
  await logged.happened;
  expect(warnings).toMatchObject([{ sessionId: 's', err: { reason: 'STORAGE' } }]);
});
