import { expect, test } from '@jest/globals';
import { createAuditLog } from '../../../../a2a-server/audit/audit-log.ts';
import { grantAuditActs, configurationAuditAct } from '../../../../a2a-server/startup/audited-acts.ts';
import { readServerSettings } from '../../../../a2a-server/startup/settings/read-settings.ts';
import type { TaskEvent } from '../../../../a2a-server/task/events.ts';
import { memoryRecords } from '../../../support/memory-records.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { entriesFrom, decidedEvent } from '../../../support/folded-task.ts';

const SECRET = 'secret-0123456789-abcdef-secret';

test('X1 the start records the configuration, what has changed, and no secret', async () => {
  const stateDir = await temporaryDirectory();
  const stored = memoryRecords();
  const audit = createAuditLog(stored);
  const environment = {
    A2A_SERVER_TOKENS: `acme/ann=${SECRET}`,
    A2A_SERVER_METRICS_TOKEN: SECRET,
    A2A_SERVER_DATABASE: `postgres://user:${SECRET}@127.0.0.1/name`,
  };
  let acts = 0;
  const configure = async (act: 'server.started' | 'server.reloaded', flags: Record<string, unknown>) => {
    const settings = await readServerSettings({ stateDir, ...flags }, environment);
    await audit.append(configurationAuditAct(act, settings), (acts += 1));
  };
  await configure('server.started', {});
  await configure('server.started', {});
  await configure('server.reloaded', { maxTasksPerTenant: 3 });
  await configure('server.started', {
    publicUrl: 'https://agents.example.com',
    fourEyes: true,
    agent: ['acp', 'agent', `--key=${SECRET}`],
  });
  const { records } = await audit.read();
  expect(records).toMatchObject([
    { act: 'server.started', configuration: { fourEyes: false, tokens: ['acme/ann'] } },
    { changed: [] },
    { act: 'server.reloaded', changed: ['limits'] },
    {
      changed: ['fourEyes', 'limits', 'agent', 'publicUrl'],
      configuration: { fourEyes: true, agent: 'acp' },
    },
  ]);
  expect(records[0]).not.toHaveProperty('changed');
  expect([...(await stored.list('audit')).values()].join()).not.toContain(SECRET);
});

test('decisions that cover later calls are acts, and decisions on one call are not', () => {
  const by = { principal: 'acme/bob', channel: 'page' };
  const events: TaskEvent[] = [
    decidedEvent('a', { by }),
    decidedEvent('a', { by, tool: 'shell', title: 'Run', scope: 'tool' }),
    { type: 'grant.revoked', grantIds: ['g'], by },
  ];
  expect(grantAuditActs('task-1', entriesFrom(events))).toEqual([
    { act: 'grant.given', taskId: 'task-1', callId: 'a', tool: 'shell', scope: 'tool', ...by },
    { act: 'grant.revoked', taskId: 'task-1', grantIds: ['g'], ...by },
  ]);
});
