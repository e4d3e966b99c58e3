/** Tests that SIGHUP makes a running server read its configuration file again. */
import { expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createAuditLog } from '../../../a2a-server/audit/audit-log.ts';
import { createFileRecordStore } from '../../../a2a-server/records/file-records.ts';
import { readServerRecord } from '../../../shared/state/server-record.ts';
import { makeGate } from '../../support/gate.ts';
import { plan, shell } from '../../support/offline-plan.ts';
import { stage, type Stage } from '../../support/stage.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const AUTO = { settings: { autoExecute: true } };

interface Configured extends Stage {
  /** Writes the file, sends SIGHUP, and resolves when the log contains this text once more. */
  reload: (server: object, logged: string) => Promise<void>;
}

async function configuredStage(first: object): Promise<Configured> {
  const config = join(await temporaryDirectory(), 'config.json');
  const write = (server: object) => writeFile(config, JSON.stringify({ server }));
  await write(first);
  const at = await stage({ args: ['--config', config] });
  const times = (text: string): number => at.server.log().split(text).length;
  return {
    ...at,
    reload: async (server, text) => {
      const before = times(text);
      await write(server);
      const record = await readServerRecord(at.server.stateDir);
      process.kill(record?.pid ?? 0, 'SIGHUP');
      while (times(text) === before) await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

it('SIGHUP ends neither the server nor its tools, because it may mean only that their terminal has closed', async () => {
  const at = await configuredStage({});
  const gate = await makeGate(at.server.workspace);
  const stream = await at.peer.stream(plan(shell(`echo running; ${gate.wait}; echo through`)), AUTO);
  await stream.output('running');
  await at.reload({}, '"applied":[],"msg":"settings reloaded"');
  await gate.pass();
  await stream.output('through');
  expect((await stream.rest()).at(-1)?.state).toBe('COMPLETED');
});

it('on SIGHUP the server applies a new log level, names what needs a restart, and ignores a wrong file', async () => {
  const at = await configuredStage({ logLevel: 'warn' });
  await at.reload({ logLevel: 'loud' }, 'the settings were not reloaded');
  await at.reload(
    { logLevel: 'warn', grace: '9s' },
    '"applied":[],"settings":["grace"],"msg":"settings reloaded, but these changes need a restart"',
  );
  // The log has this line only at the new level.
  await at.reload({ logLevel: 'info' }, '"applied":["logLevel"],"msg":"settings reloaded"');
});

it('on SIGHUP the server applies new rules and limits to the tasks that it has, and records the change', async () => {
  const at = await configuredStage({ maxTasks: 1 });
  const { peer, server } = at;
  const gate = await makeGate(server.workspace);
  const first = await peer.stream(plan(shell(`echo running; ${gate.wait}`), shell('echo forbidden')), AUTO);
  await first.output('running');
  const second = await peer.stream('say hello', AUTO);

  const policy = [{ action: 'deny', command: ['echo forbidden'] }];
  await at.reload({ maxTasks: 2, policy: [{ action: 'deny', tool: 'no-such-tool' }] }, 'were not reloaded');
  await at.reload({ maxTasks: 2, policy }, '"applied":["maxTasks","policy"],"msg":"settings reloaded"');
  // The second task did not run before, because the first has the only place.
  expect((await second.rest()).at(-1)?.state).toBe('COMPLETED');

  await gate.pass();
  const { taskId = '' } = (await first.rest()).at(-1) ?? {};
  expect((await peer.task(taskId)).overview.calls).toMatchObject([{ state: 'ok' }, { state: 'error' }]);

  const records = createFileRecordStore(server.stateDir, () => undefined);
  expect((await peer.task(taskId)).text).toContain('rule 1 (deny: command "echo forbidden")');
  const acts = (await createAuditLog(records).read()).records.filter(({ act }) => act === 'server.reloaded');
  expect(acts).toMatchObject([{ configuration: { policy } }]);
});
