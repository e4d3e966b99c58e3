/** Tests kill -9 of the server while a command runs. The next server must end the command at its start. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { decisionOn } from '../../support/a2a-message.ts';
import { plan, shell } from '../../support/offline-plan.ts';
import { runningProcesses } from '../../support/process-group.ts';
import { untilFileContains } from '../../support/file-watch.ts';
import { newServerHome } from '../../support/server-program.ts';
import { stage, stageAgain, type Stage } from '../../support/stage.ts';

const linux = process.platform === 'linux' ? it : it.skip;

/** The process groups that remain after a failed test. They are ended after the test. */
const groups: number[] = [];

afterEach(() => {
  for (const group of groups.splice(0)) {
    try {
      process.kill(-group, 'SIGKILL');
    } catch {
      // Resolves when the process has ended.
    }
  }
});

/** `$$` is the process group of the command. */
const NOTE_GROUP = 'echo $$ >> groups';

/** Returns the process groups of all runs of the command, in order. */
async function groupsOf({ file }: Stage): Promise<number[]> {
  const ids = ((await file('groups')) ?? '').split('\n').slice(0, -1).map(Number);
  groups.push(...ids);
  return ids;
}

/** Runs an approved command until it prints `running`, and then kills only the server. */
async function killedBeside(command: string, args: readonly string[] = []) {
  const before = await stage({ args });
  const first = await before.peer.stream(plan(shell(`${NOTE_GROUP}; ${command}`), { say: 'We end.' }));
  const { taskId, pending } = await first.parked();
  const second = await before.peer.decide(taskId, [decisionOn(pending, 'approve')]);
  await second.output('running');
  await before.server.kill();
  const [group = 0] = await groupsOf(before);
  return { before, taskId, group, seq: second.seen.at(-1)?.seq ?? 0 };
}

describe('a server that is killed while a command runs', () => {
  it.each([
    ['a sleeping child', 'echo running; sleep 90'],
    ['grandchildren', '(sleep 90 & sleep 90 & echo running; wait) & wait'],
    ['a child that ignores SIGTERM', "trap '' TERM; echo running; while :; do sleep 1; done"],
  ])(
    'R94 the next server ends the command’s process group before it asks a person: %s',
    async (_, command) => {
      const { before, taskId, group, seq } = await killedBeside(command, ['--grace', '1s']);
      expect(await runningProcesses(group)).toBeGreaterThan(0);

      const after = await stageAgain(before);
      const { pending } = await (await after.peer.follow(taskId, seq)).parked();
      expect(await runningProcesses(group)).toBe(0);
      expect(pending).toMatchObject([{ reason: 'outcome-unknown', decisions: ['approve', 'deny'] }]);
      expect(await readdir(join(after.server.stateDir, 'processes'))).toEqual([]);

      // Before the command runs again, its first run must have ended.
      const again = await after.peer.decide(taskId, [decisionOn(pending, 'approve')]);
      await again.output('running');
      const [, second = 0] = await groupsOf(after);
      expect(second).not.toBe(group);
      expect(await runningProcesses(group)).toBe(0);
      expect(await runningProcesses(second)).toBeGreaterThan(0);
      await after.peer.cancel(taskId);
    },
  );

  linux('R94 one that cannot be ended is named; the task asks nobody until it has gone', async () => {
    // The leader of the process group has ended. So the server cannot know who owns the remaining process.
    const { before, taskId, group, seq } = await killedBeside("env -i sh -c 'echo running; sleep 90' & wait");
    process.kill(group, 'SIGKILL');

    const after = await stageAgain(before);
    const stream = await after.peer.follow(taskId, seq);
    const said = await stream.until(({ data }) => data.includes(`process group ${group} may still run`));
    expect(said.state).toBe('WORKING');
    expect((await after.peer.task(taskId)).pending).toEqual([]);
    process.kill(-group, 'SIGKILL');
    expect((await stream.parked()).pending).toMatchObject([{ reason: 'outcome-unknown' }]);
  });

  it('R94 the next server also ends MCP servers that keep running after the end of their input', async () => {
    const home = await newServerHome();
    try {
      const args = ['-c', 'echo $$ >> groups; sleep 90'];
      const deaf = { command: '/bin/sh', args, cwd: home.workspace };
      await writeFile(
        join(home.stateDir, 'config.json'),
        JSON.stringify({ server: { mcpServers: { deaf } } }),
      );
      const before = await stage({ home });
      await untilFileContains(join(home.workspace, 'groups'), '\n');
      const [group = 0] = await groupsOf(before);
      // The server records the process one turn of the event loop after its start. So this later answer comes after
      // the record.
      await before.peer.request('/health', { method: 'GET' });
      await before.server.kill();
      expect(await runningProcesses(group)).toBeGreaterThan(0);

      const after = await stageAgain(before);
      await after.peer.send('say hello');
      expect(await runningProcesses(group)).toBe(0);
      await after.server.stop();
      await groupsOf(after);
    } finally {
      await rm(dirname(home.stateDir), { recursive: true, force: true });
    }
  });
});
