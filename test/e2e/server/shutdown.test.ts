/** Tests signals that end the server. Running tools finish or are stopped, and the next server continues. */
import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readServerRecord } from '../../../shared/state/server-record.ts';
import { makeGate } from '../../support/gate.ts';
import { plan, shell } from '../../support/offline-plan.ts';
import { runningProcesses } from '../../support/process-group.ts';
import { homeDirectoryOf, launchServer, newServerHome } from '../../support/server-program.ts';
import { stage, stageAgain, type Stage } from '../../support/stage.ts';

const AUTO = { settings: { autoExecute: true } };
const LONG = 'sleep 90 & sleep 90 & wait';
/** Prints `running` when all of its processes run. */
const GROUP_OF_THREE = 'sleep 90 & sleep 90 & echo running; wait';
/** This grace period is longer than any test. */
const PATIENT = ['--grace', '1h'];

async function signal({ server }: Stage, name: NodeJS.Signals): Promise<void> {
  const record = await readServerRecord(server.stateDir);
  process.kill(record?.pid ?? 0, name);
}

/** Resolves when the server's log contains this text. */
async function logged({ server }: Stage, text: string): Promise<void> {
  while (!server.log().includes(text)) await new Promise((resolve) => setImmediate(resolve));
}

describe('SIGTERM', () => {
  it('R49 on SIGTERM the server lets a running tool finish and refuses new work, and the next server continues', async () => {
    const at = await stage({ args: PATIENT });
    const gate = await makeGate(at.server.workspace);
    const before = await at.peer.stream(
      plan(shell(`echo running; ${gate.wait}; echo through`), { say: 'We end.' }),
      AUTO,
    );
    await before.output('running');
    const ended = at.server.stop();
    await logged(at, 'shutting down');
    const refused = await at.peer.request('/message:send', { body: '{}' });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
    await gate.pass();
    await before.output('through');
    // The server ends the stream in order, although the task continues. So the reader reconnects with its cursor.
    const seen = await before.rest();
    expect(await ended).toBe(0);
    const { taskId = '', seq = 0 } = seen.at(-1) ?? {};
    expect(seen.map(({ state }) => state)).not.toContain('COMPLETED');

    const { peer } = await stageAgain(at);
    const events = await (await peer.follow(taskId, seq)).rest();
    expect(events[0]?.seq).toBe(seq + 1);
    expect(events.at(-1)?.state).toBe('COMPLETED');
    const { text, overview } = await peer.task(taskId);
    expect(text).toMatch(/through[^]*We end\./);
    expect(overview.calls).toMatchObject([{ state: 'ok' }]);
  });

  it('R49 on SIGTERM the server stops a tool after the grace period, with its whole process group, and records the reason "shutdown"', async () => {
    const at = await stage({ args: ['--grace', '1s'] });
    const stream = await at.peer.stream(
      plan(shell(`echo $$ > group.txt; echo running; ${LONG}`), { say: 'We end.' }),
      AUTO,
    );
    await stream.output('running');
    const group = Number(await at.file('group.txt'));
    expect(await at.server.stop()).toBe(0);
    expect(await runningProcesses(group)).toBe(0);
    const seen = await stream.rest();
    const { taskId = '', seq = 0 } = seen.at(-1) ?? {};
    const finished = seen.find(({ activity }) => activity?.type === 'tool.finished');
    expect(finished?.activity).toMatchObject({ outcome: 'stopped', stopReason: 'server-shutdown' });
    const { peer } = await stageAgain(at);
    const rest = await (await peer.follow(taskId, seq)).rest();
    expect(rest.at(-1)?.state).toBe('COMPLETED');
    // The command may have had effects, so it does not run again by itself.
    expect(rest.some(({ activity }) => activity?.type === 'tool.started')).toBe(false);
    expect((await peer.task(taskId)).text).toContain('We end.');
  });

  it('R49 on a second signal the server stops running tools at once, in order', async () => {
    const at = await stage({ args: PATIENT });
    const stream = await at.peer.stream(plan(shell(`echo $$ > group.txt; ${GROUP_OF_THREE}`)), AUTO);
    await stream.output('running');
    const group = Number(await at.file('group.txt'));
    const ended = at.server.stop();
    await logged(at, 'waiting for the running tools');
    expect(await runningProcesses(group)).toBe(3);
    await signal(at, 'SIGINT');
    expect(await ended).toBe(0);
    expect(await runningProcesses(group)).toBe(0);
    const finished = (await stream.rest()).find(({ activity }) => activity?.type === 'tool.finished');
    expect(finished?.activity).toMatchObject({ outcome: 'stopped', stopReason: 'server-shutdown' });
  });

  it('R49 on a third signal the server exits at once, and the next server asks a person about the unfinished calls', async () => {
    const at = await stage({ args: PATIENT });
    const stream = await at.peer.stream(
      plan(shell(`trap '' TERM; echo $$ > group.txt; echo running; ${LONG}`)),
      AUTO,
    );
    await stream.output('running');
    const group = Number(await at.file('group.txt'));
    const ended = at.server.stop();
    await logged(at, 'waiting for the running tools');
    await signal(at, 'SIGTERM');
    await logged(at, 'stopping the running tools');
    await signal(at, 'SIGTERM');
    expect(await ended).toBe(1);
    process.kill(-group, 'SIGKILL');
    const { taskId = '' } = stream.seen[0] ?? {};
    const { peer } = await stageAgain(at);
    // The next server asks after it has looked for the processes of the call. So it may be ready before that.
    const { pending } = await (await peer.follow(taskId, 0)).parked();
    expect(pending).toMatchObject([{ reason: 'outcome-unknown' }]);
  });
});

describe('SIGTERM to a server that is still starting', () => {
  it('R49 on SIGTERM during the start the server ends in order, and never reports that it is ready', async () => {
    const home = await newServerHome();
    const script = join(homeDirectoryOf(home), 'script');
    await promisify(execFile)('mkfifo', [script]);
    const server = launchServer({ home, args: ['--agent', 'scripted', script] });
    const ready = server.ready.then(
      () => 'ready',
      () => 'ended before',
    );
    try {
      // This call returns when the server has opened the pipe to read it.
      const file = await open(script, 'w');
      const ended = server.stop();
      while (!server.log().includes('shutting down')) await new Promise((resolve) => setImmediate(resolve));
      await file.writeFile(await readFile('examples/scripted-agent.json'));
      await file.close();
      expect([await ended, await ready]).toEqual([0, 'ended before']);
      expect(await readServerRecord(home.stateDir)).toBeUndefined();
    } finally {
      await server.kill();
      await rm(homeDirectoryOf(home), { recursive: true, force: true });
    }
  });
});
