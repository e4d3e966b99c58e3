/** Tests the commands that list, watch and stop tasks. */
import { describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { decisionOn } from '../../support/a2a-message.ts';
import { modelEndpoint, serverWithModel } from '../../support/model-stage.ts';
import { stage } from '../../support/stage.ts';
import { plan, shell, wait } from '../../support/offline-plan.ts';
import { cli, cliAtTerminal, cliRunning, type Outcome } from './support/cli.ts';
import { cliStage, cliStageAgain, cliStageOf, sharedCliStage } from './support/cli-stage.ts';

const event = z.object({ seq: z.number().nullable(), observations: z.array(z.unknown()) });
const listed = z.object({
  sessions: z.array(z.object({ sessionId: z.string(), state: z.string(), pending: z.number() })),
  more: z.number(),
  unreachable: z.array(z.object({ agent: z.string(), message: z.string() })),
});

function seqsIn({ stdout }: Pick<Outcome, 'stdout'>): (number | null)[] {
  return stdout
    .trim()
    .split('\n')
    .map((line) => event.parse(JSON.parse(line)).seq);
}

describe('the command tasks', () => {
  it('tasks lists every session with its state, pending actions and age: waiting sessions first, then the newest', async () => {
    const on = await cliStage();
    const parked = await on.peer.send('Create test.md with hello');
    const done = await on.peer.send('say something');
    const { stdout, code } = await on.run('tasks');
    const [head, ...rows] = stdout.trimEnd().split('\n');
    expect(head).toMatch(/^SESSION +AGENT +STATE +PENDING +AGE +TASK$/);
    expect(rows[1]).toMatch(/^session-\S+ +local +completed +- +\d+s +say something$/);
    expect(rows[0]).toMatch(/^session-\S+ +local +input-required +1 +\d+s +Create test\.md with hello$/);
    expect(code).toBe(0);
    const { sessions } = listed.parse(await on.json('tasks'));
    expect(sessions).toMatchObject([
      { sessionId: parked.sessionId, state: 'input-required', pending: 1 },
      { sessionId: done.sessionId, state: 'completed', pending: 0 },
    ]);
    const { sessions: waiting } = listed.parse(await on.json('tasks', '--state', 'input-required'));
    expect(waiting.map(({ sessionId }) => sessionId)).toEqual([parked.sessionId]);
    expect(listed.parse(await on.json('tasks', '--limit', '1')).more).toBe(1);
    expect((await on.run('tasks', '--state', 'asleep')).code).toBe(2);
    expect((await on.run('tasks', '--agent', 'nobody')).code).toBe(3);
  });

  it('R63 tasks gives a next step for an unreachable agent, and still lists the sessions of other agents', async () => {
    const on = await cliStage();
    await on.peer.send('say something');
    const config = join(on.server.stateDir, 'two.json');
    const agents = {
      here: { url: on.server.url, tokenEnv: 'HERE' },
      away: { url: 'http://127.0.0.1:1' },
    };
    await writeFile(config, JSON.stringify({ bridge: { agents } }));
    const at = { ...on.at, env: { ...on.at.env, HERE: on.server.token } };
    const both = await cli(['tasks', '--config', config], at);
    expect(both.stdout).toContain('say something');
    expect(both.stderr).toContain('No answer from agent "away"');
    expect(both.code).toBe(0);
    expect((await cli(['tasks', '--config', config, '--agent', 'away'], at)).code).toBe(69);
    // The page is that of the first agent. No other server is started.
    const opened = await cliAtTerminal(['page', '--config', config], { ...at, keys: '' });
    expect(opened.stdout).toContain(`${new URL(on.server.url).port}/page#`);
    const lost = await cli(['watch', 'any', '--agent-url', 'http://127.0.0.1:1'], on.at);
    expect(lost).toMatchObject({ code: 69, stderr: expect.stringContaining('cannot look for session') });
    const wrong = await cli(['tasks', '--config', config, '--agent', 'here', '--json'], {
      ...at,
      env: { ...at.env, HERE: 'a-token-that-is-not-the-one' },
    });
    expect(listed.parse(JSON.parse(wrong.stdout)).unreachable[0]?.message).toContain('HERE');
    expect(wrong.code).toBe(77);
    const refused = await cli(['inbox', '--agent-url', on.server.url], {
      ...at,
      env: { ...at.env, MCP_A2A_BRIDGE_AGENT_TOKEN: 'a-token-that-is-not-the-one' },
    });
    expect(refused).toMatchObject({ code: 77, stderr: expect.stringContaining('No answer from agent') });
  });
});

describe('the command watch', () => {
  it('S1 watch shows events live until the task ends, also after a decision from another process', async () => {
    const on = await sharedCliStage();
    const { sessionId, taskId, pending } = await on.peer.send('Create test.md with hello');
    const watch = cliRunning(['watch', sessionId], on.at);
    await watch.line('input-required');
    const stream = await on.peer.decide(taskId, [decisionOn(pending, 'approve')]);
    await watch.line('write-file runs');
    const { code, stdout } = await watch.ended;
    expect(stdout).toMatch(/write-file: wrote test\.md[^]*completed/);
    expect(code).toBe(0);
    stream.connection.destroy();
  });

  it('S1 R25 watch shows each event after a cursor once and in order', async () => {
    const on = await sharedCliStage();
    const { sessionId } = await on.peer.send('say something');
    const all = seqsIn(await on.run('watch', sessionId, '--from', '0', '--json'));
    expect(all).toEqual([...new Set(all)].toSorted((a, b) => Number(a) - Number(b)));
    const middle = all[2] ?? 0;
    expect(seqsIn(await on.run('watch', sessionId, '--from', String(middle), '--json'))).toEqual(
      all.slice(3),
    );
  });

  it('R25 watch continues after a restart of the server, and misses and repeats no event', async () => {
    const before = await cliStage();
    const { sessionId, seq } = await before.peer.send('Create test.md with hello');
    // With `--no-auto-start` this command starts no server. The test starts one itself.
    const watch = cliRunning(['watch', sessionId, '--from', '0', '--json', '--no-auto-start'], before.at);
    await watch.line(`{"seq":${String(seq)},`);
    await before.server.kill();
    const on = await cliStageAgain(before);
    await on.run('approve', await on.code(sessionId));
    const outcome = await watch.ended;
    expect(outcome.code).toBe(0);
    const { stdout } = await on.run('watch', sessionId, '--from', '0', '--json');
    expect(seqsIn(outcome)).toEqual(seqsIn({ stdout }));
  });

  it('R26 S2 watch refuses a cursor that is invalid or beyond the end', async () => {
    const on = await sharedCliStage();
    const { sessionId } = await on.peer.send('say something');
    expect(await on.run('watch', sessionId, '--from', 'start')).toMatchObject({ code: 2 });
    expect(await on.run('watch', sessionId, '--from', '-1')).toMatchObject({ code: 2 });
    const beyond = await on.run('watch', sessionId, '--from', '100000');
    expect(beyond).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /--from 100000: the task has the events 1 to \d+\. --from 0 shows all events\./,
      ),
    });
  });

  it('watch --times begins each step with the agent’s time, which is the same on every run', async () => {
    const on = await sharedCliStage();
    const { sessionId } = await on.peer.send('list .');
    const { stdout } = await on.run('watch', sessionId, '--from', '0', '--times');
    const timed = stdout.split('\n').filter((line) => /#\d+ /.test(line));
    expect(timed).not.toEqual([]);
    for (const line of timed) expect(line).toMatch(/^\d\d:\d\d:\d\d\.\d{3}Z #\d+ /);
    expect((await on.run('watch', sessionId, '--from', '0', '--times')).stdout).toBe(stdout);
    expect((await on.run('watch', sessionId, '--from', '0')).stdout).not.toMatch(/\d\dZ #/);
  });

  it('watch --thinking prints the reasoning of each turn, and watch without it prints only the cost', async () => {
    const endpoint = await modelEndpoint();
    const on = cliStageOf(await stage(serverWithModel(endpoint)));
    for (const name of ['thinking-and-parallel-calls', 'text']) {
      const file = new URL(`../../recordings/openai-compatible/${name}.sse`, import.meta.url);
      endpoint.script({ type: 'raw', body: await readFile(file, 'utf8') });
    }
    const { sessionId } = await on.peer.send('Compare a.md and b.md');
    const thinking = await on.run('watch', sessionId, '--from', '0', '--thinking');
    expect(thinking.stdout).toMatch(/thinking:\n│ I need both files\.\n[^]*turn 1: \d+ tokens in[^]*Done\./);
    expect(thinking.code).toBe(0);
    const { stdout } = await on.run('watch', sessionId, '--from', '0');
    expect(stdout).toMatch(/turn 1: \d+ tokens in/);
    expect(stdout).not.toContain('I need');
  });

  it('the exit code of watch says how the task ended, or that the task waits', async () => {
    const on = await sharedCliStage();
    const { sessionId } = await on.peer.send('Create test.md with hello');
    expect((await on.run('watch', sessionId, '--until-settled')).code).toBe(6);
    await on.run('cancel', sessionId);
    expect((await on.run('watch', sessionId)).code).toBe(5);
  });

  it('E4 the end of watch stops no task', async () => {
    const on = await sharedCliStage();
    const { sessionId } = await on.peer.send('Create test.md with hello');
    await on.run('approve', await on.code(sessionId));
    const watch = cliRunning(['watch', sessionId, '--from', '0'], on.at);
    await watch.line('working');
    watch.child.kill('SIGINT');
    await once(watch.child, 'exit');
    expect((await on.run('watch', sessionId)).code).toBe(0);
    expect(await on.file('test.md')).toBe('hello');
  });
});

describe('the commands cancel and abort', () => {
  it('R44 cancel ends a waiting task; for an ended task it says that the task has ended', async () => {
    const on = await sharedCliStage();
    const { sessionId } = await on.peer.send('Create test.md with hello');
    expect(await on.json('cancel', sessionId, '--reason', 'changed my mind')).toMatchObject({
      state: 'canceled',
      canceled: true,
    });
    const again = await on.run('cancel', sessionId);
    expect(again).toMatchObject({ code: 4, stderr: expect.stringContaining('had ended before (cancelled)') });
    expect((await on.run('approve', sessionId)).code).toBe(3);
    expect(await on.file('test.md')).toBeUndefined();
  });

  it('R40 R41 abort stops only the tool that watch named, and the tool’s task continues', async () => {
    const on = await sharedCliStage();
    const stream = await on.peer.stream(plan(shell('sleep 1000'), { say: 'went on' }), {
      settings: { autoExecute: true },
    });
    const { sessionId } = await stream
      .until(() => true)
      .then(() => on.peer.list())
      .then(([task]) => task ?? { sessionId: '' });
    const watch = cliRunning(['watch', sessionId, '--from', '0'], on.at);
    const toolId = /run-shell-command-\S+/.exec(await watch.line('run-shell-command runs'))?.[0] ?? '';
    expect(await on.json('abort', toolId, '--reason', 'too slow')).toMatchObject({ success: true });
    const { stdout } = await watch.ended;
    expect(stdout).toMatch(/run-shell-command: stopped[^]*went on/);
    expect(await on.run('abort', toolId)).toMatchObject({ code: 4, stderr: expect.stringMatching(/\S/) });
    expect((await on.run('abort', 'nothing-1')).code).toBe(4);
    stream.connection.destroy();
  });

  it('R61 cancel ends a task while its tool runs', async () => {
    const on = await sharedCliStage();
    const stream = await on.peer.stream(plan(wait(1000)), { settings: { autoExecute: true } });
    const task = (await on.peer.list())[0];
    const watch = cliRunning(['watch', task?.sessionId ?? '', '--from', '0'], on.at);
    await watch.line('wait runs');
    expect((await on.run('cancel', task?.sessionId ?? '')).code).toBe(0);
    expect((await watch.ended).code).toBe(5);
    stream.connection.destroy();
  });
});
