/** Tests several server processes on one PostgreSQL: what happens to a task whose server dies, stops or is cut off. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { command } from '../../integration/acp/steps-with-effects.ts';
import { signedIn } from '../../integration/web/support/page-requests.ts';
import { decisionOn } from '../../support/a2a-message.ts';
import { A2aPeer } from '../../support/a2a-peer.ts';
import { agentProgram } from '../../support/acp-agent/agent-program.ts';
import { steps } from '../../support/acp-agent/step.ts';
import { Client } from 'pg';
import { z } from 'zod';
import { cleanUpLater } from '../../support/clean-up.ts';
import { makeGate } from '../../support/gate.ts';
import { plan, shell, wait, write } from '../../support/offline-plan.ts';
import { startProxy, type PostgresProxy } from '../../support/postgres-proxy.ts';
import { onPostgres } from '../../support/on-postgres.ts';
import { pushReceiver } from '../../support/push-receiver.ts';
import { jsonOf } from '../../support/rpc-answer.ts';
import { runningProcesses } from '../../support/process-group.ts';
import { homeDirectoryOf, newServerHome, PROGRAM } from '../../support/server-program.ts';
import { stage, stageAgain, type Stage } from '../../support/stage.ts';
import { activitiesOf, type StreamEvent, startsIn } from '../../support/wire-event.ts';

/** Returns the task's events. Each has a larger number than the one before. */
async function eventsOf({ peer }: Stage, taskId: string): Promise<StreamEvent[]> {
  const events = await peer.history(taskId);
  const seqs = events.flatMap(({ seq }) => seq ?? []);
  expect(new Set(seqs).size).toBe(seqs.length);
  expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
  return events;
}

const toolList = z.object({ tools: z.array(z.looseObject({ toolId: z.string() })) });

async function toolsAt({ peer }: Stage) {
  return toolList.parse(await jsonOf(await peer.request('/api/tools', { method: 'GET' }))).tools;
}

/** The interval in which a test asks again for a state that no event announces. */
const ASK_AGAIN_MS = 50;

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));

const runFile = promisify(execFile);

const jwks = z.object({ keys: z.array(z.looseObject({ kid: z.string() })) });

/** @returns the names of the keys that sign push notifications */
async function publishedKids({ server }: Stage): Promise<string[]> {
  const answer = await fetch(new URL('/.well-known/jwks.json', server.url));
  return jwks.parse(await answer.json()).keys.map(({ kid }) => kid);
}

/** An MCP server over stdio that writes a line to the file of its argument for each call of its tool `note`. */
const RECORDING_MCP_SERVER = `
  require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (method === 'tools/call') require('fs').appendFileSync(process.argv[1], 'called ');
    const results = {
      initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'r', version: '1' } },
      'tools/list': { tools: [{ name: 'note', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: 'noted' }] },
    };
    const answer = results[method] ? { result: results[method] } : { error: { code: -32601, message: 'unknown' } };
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  });`;

const TEAM_TOKEN = 'a-token-of-both-servers-0123456789';

/** Starts a task whose approved command runs until the gate opens. */
async function runningCommand(first: Stage) {
  const gate = await makeGate(first.server.workspace);
  const text = plan(shell(`echo $$ >> effects.txt; echo running; ${gate.wait}; echo late >> effects.txt`), {
    say: 'We end.',
  });
  const { taskId, pending } = await (await first.peer.stream(text)).parked();
  const decided = await first.peer.decide(taskId, [decisionOn(pending, 'approve')]);
  await decided.output('running');
  return { gate, taskId, decided, seq: decided.seen.at(-1)?.seq ?? 0 };
}

/** Opens connections until PostgreSQL refuses the next one. */
async function takeAllConnections(url: string): Promise<Client[]> {
  const taken: Client[] = [];
  for (;;) {
    const client = new Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
    } catch (error) {
      expect(error).toMatchObject({ code: '53300' });
      return taken;
    }
    taken.push(client);
  }
}

async function untilAsked({ peer }: Stage, taskId: string) {
  for (;;) {
    const task = await peer.task(taskId);
    if (task.state === 'INPUT_REQUIRED') return task;
    await pause();
  }
}

/** Waits until no process of the command runs. The command has written its process group. */
async function untilEnded(first: Stage): Promise<void> {
  while ((await runningProcesses(Number.parseInt((await first.file('effects.txt')) ?? '', 10))) > 0)
    await pause();
}

onPostgres([], (database) => {
  let url: string;
  let proxy: PostgresProxy;

  beforeEach(async () => {
    url = await database().createDatabase();
    proxy = await startProxy(url);
  });

  afterEach(async () => {
    await proxy.close();
    await database().dropDatabase(url);
  });

  const replica = (from = url, args: string[] = []): Promise<Stage> =>
    stage({ args, env: { A2A_SERVER_DATABASE: from } });

  /** Starts two servers with the same ACP agent. */
  async function acpReplicas() {
    const agent = await agentProgram();
    const args = ['--agent=acp', '--', agent.command, ...agent.args];
    const env = { A2A_SERVER_DATABASE: url };
    return { agent, first: await stage({ args, env }), second: await stage({ args, env }) };
  }

  describe('--on-disconnect cancel', () => {
    it('a task goes on while its client reads it at another server', async () => {
      const env = { A2A_SERVER_TOKENS: `ann=${TEAM_TOKEN}`, A2A_SERVER_DATABASE: url };
      const args = ['--on-disconnect', 'cancel', '--mode', 'auto'];
      const [first, second] = [await stage({ args, env }), await stage({ args, env })];
      const of = ({ server }: Stage) => new A2aPeer({ url: server.url, token: TEAM_TOKEN });
      const stream = await of(first).stream(plan(shell('until [ -e go ]; do echo working; sleep 1; done')));
      await stream.until((event) => event.activity?.type === 'tool.started');
      const { taskId = '', seq = 0 } = stream.seen.at(-1) ?? {};
      stream.connection.destroy();
      const followed = await of(second).follow(taskId, seq);
      await first.server.logged(/a client reads it at another server/);
      await writeFile(join(first.server.workspace, 'go'), '');
      expect((await followed.rest()).at(-1)?.state).toBe('COMPLETED');
      // After it has noticed the cut, the first server waits ten seconds for the client.
    });
  });

  describe('a server that dies', () => {
    it('R112 during a command: another server asks about the interrupted command, and does not run it again', async () => {
      const first = await replica();
      const second = await replica();
      const { taskId } = await runningCommand(first);
      await first.server.kill();
      process.kill(-Number(await first.file('effects.txt')), 'SIGKILL');
      const asked = await untilAsked(second, taskId);
      expect(asked.pending).toMatchObject([{ reason: 'outcome-unknown' }]);
      expect((await first.file('effects.txt'))?.match(/\n/g)).toHaveLength(1);
      expect(startsIn(await eventsOf(second, taskId))).toBe(1);
    });

    it('R112 while a model answers: one of two other servers asks the model again', async () => {
      const first = await replica();
      const others = [await replica(), await replica()];
      const text = plan({ say: 'word ', repeat: 50_000 }, write('a.txt', 'one'));
      const stream = await first.peer.stream(text);
      const { taskId } = await stream.until((event) => event.text !== '');
      await first.server.kill();
      const tasks = await Promise.all(others.map((other) => untilAsked(other, taskId)));
      expect(tasks.map(({ pending }) => pending)).toMatchObject([[{}], [{}]]);
      const [one = [], two = []] = await Promise.all(others.map((other) => eventsOf(other, taskId)));
      expect(one.map(({ data }) => data)).toEqual(two.map(({ data }) => data));
    }, 120_000);

    it('R112 while a call waits for a person: another server runs the call once after its approval', async () => {
      const first = await replica();
      const second = await replica();
      const { taskId, pending } = await (
        await first.peer.stream(plan(write('a.txt', 'one'), { say: 'We end.' }))
      ).parked();
      await first.server.kill();
      const decided = await second.peer.decide(taskId, [decisionOn(pending, 'approve')]);
      expect((await decided.rest()).at(-1)?.state).toBe('COMPLETED');
      expect(await first.file('a.txt')).toBe('one');
      expect(startsIn(await eventsOf(second, taskId))).toBe(1);
    });

    it('R112 while an ACP agent waits for a person: another server starts the agent from its session, and the call runs once', async () => {
      const { agent, first, second } = await acpReplicas();
      const text = steps({ say: 'Before. ' }, { ask: [command('a')] }, { say: 'After.' });
      const { taskId, pending } = await (await first.peer.stream(text)).parked();
      await first.server.kill();
      const decided = await second.peer.decide(taskId, [decisionOn(pending, 'approve')]);
      expect((await decided.rest()).at(-1)?.state).toBe('COMPLETED');
      expect(await first.file('effects.txt')).toBe('a\n');
      expect(await agent.answers()).toEqual(['a: allow_once']);
      expect((await agent.prompts())[1]).toContain('Run make a: the person approved it');
    });

    it('R112 while an ACP agent works: another server starts the agent again, and it continues its session', async () => {
      const { agent, first, second } = await acpReplicas();
      const text = steps({ say: 'One. ' }, { hang: 'in-first-process' }, { say: 'Two.' });
      const stream = await first.peer.stream(text);
      const { taskId } = await stream.until((event) => event.text !== '');
      await first.server.kill();
      const ended = await (await second.peer.follow(taskId, 0)).rest();
      expect(ended.at(-1)?.state).toBe('COMPLETED');
      expect((await agent.prompts())[1]).toMatch(/^Your work on the following task was interrupted/);
    });

    it('during push notifications: another server continues them, in order and without a gap', async () => {
      const args = ['--allow-private-host', '127.0.0.1'];
      const first = await replica(url, args);
      const second = await replica(url, args);
      const receiver = await pushReceiver();
      try {
        const { taskId, pending } = await first.peer.send(plan(write('a.txt', 'one'), { say: 'We end.' }));
        await first.peer.call('CreateTaskPushNotificationConfig', { taskId, url: receiver.url });
        await receiver.until(() => receiver.notifications.length === 1);
        receiver.reply = 500;
        await (await second.peer.decide(taskId, [decisionOn(pending, 'approve')])).rest();
        await receiver.until(() => receiver.refused > 0);
        await first.server.kill();
        receiver.reply = 204;
        await receiver.until(() => receiver.notifications.at(-1)?.event.state === 'COMPLETED');
        const got = receiver.notifications.flatMap(({ event }) => event.seq ?? []);
        const registered = got[0] ?? 0;
        const later = (await eventsOf(second, taskId)).flatMap(({ seq }) => (seq > registered ? [seq] : []));
        expect([...new Set(got)]).toEqual([registered, ...later]);
        expect(got).toEqual(got.toSorted((a, b) => a - b));
      } finally {
        await receiver.stop();
      }
    });

    it('a server that stops during a tool leaves the task to another server', async () => {
      const first = await replica();
      const second = await replica();
      const stream = await first.peer.stream(plan(wait(600), { say: 'We end.' }));
      const { taskId } = await stream.until(({ activity }) => activity?.type === 'tool.started');
      expect(await first.server.stop()).toBe(0);
      while (startsIn(await second.peer.history(taskId)) < 2) await pause();
      await second.peer.cancel(taskId);
    });
  });

  describe('a workspace that one server can open', () => {
    it('R119 without that server, the task waits and says why; with it, the task continues', async () => {
      const home = await newServerHome();
      try {
        const first = await replica();
        const args = ['--allow-workspace', home.workspace];
        const other = await stage({ home, args, env: { A2A_SERVER_DATABASE: url } });
        const stream = await first.peer.stream(plan(wait(600), { say: 'We end.' }));
        const { taskId } = await stream.until(({ activity }) => activity?.type === 'tool.started');
        await first.server.kill();
        await other.server.logged(/no server can open the workspace/);
        const { state, statusText } = await other.peer.task(taskId);
        expect([state, statusText]).toEqual([
          'WORKING',
          expect.stringContaining('no running server can open'),
        ]);
        const again = await stageAgain(first);
        while (startsIn(await again.peer.history(taskId)) < 2) await pause();
        await again.peer.cancel(taskId);
        await other.server.stop();
      } finally {
        await rm(homeDirectoryOf(home), { recursive: true, force: true });
      }
    });
  });

  describe('a server whose own clock is wrong', () => {
    it('uses the time of the database for deadlines and entries, as the other servers do', async () => {
      const day = 24 * 60 * 60_000;
      const ahead = `const now = Date.now; Date.now = () => now() + ${10 * day};`;
      const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(ahead)}`;
      const wrong = await stage({ env: { A2A_SERVER_DATABASE: url, NODE_OPTIONS } });
      const { taskId } = await wrong.peer.send(plan(write('a.txt', 'one'), { say: 'We end.' }));
      const [pending] = (await wrong.peer.task(taskId)).pending;
      const deadline = Date.parse(pending?.expiresAt ?? '');
      // The default is 7 days.
      expect(deadline - Date.now()).toBeGreaterThan(6 * day);
      expect(deadline - Date.now()).toBeLessThan(8 * day);
    });
  });

  describe('servers whose directories have the same paths on different disks', () => {
    it('R119 a label keeps each task on its disk; every server decides, and a session continues on its disk', async () => {
      const [first, other] = [await replica(url, ['--label=disk-1']), await replica(url, ['--label=disk-2'])];
      const { taskId, sessionId } = await first.peer.send(plan(write('a.txt', 'one'), { say: 'We end.' }));
      const [call] = (await other.peer.task(taskId)).pending;
      await first.server.kill();
      await other.peer.decide(taskId, call ? [decisionOn([call], 'approve')] : []);
      await other.server.logged(/no server can open the workspace/);
      expect((await other.peer.task(taskId)).statusText).toContain('no running server with the label disk-1');
      const again = await stageAgain(first);
      while ((await again.peer.task(taskId)).state !== 'COMPLETED') await pause();
      expect([await again.file('a.txt'), await other.file('a.txt')]).toEqual(['one', undefined]);
      await expect(other.peer.send('paint the moon', { sessionId })).rejects.toMatchObject({
        reason: 'UNKNOWN_WORKSPACE',
        message: expect.stringContaining('another label'),
      });
      expect((await again.peer.send('paint the moon', { sessionId })).sessionId).toBe(sessionId);
    });
  });

  describe('a database that is away for longer than a lease', () => {
    it('R117 the command stops, and later one of two servers asks about it', async () => {
      const first = await replica();
      const second = await replica();
      const { gate, taskId } = await runningCommand(first);
      await database().stop();
      await first.server.logged(/lost the task/);
      await untilEnded(first);
      await gate.pass();
      await database().start();
      const asked = await untilAsked(second, taskId);
      expect(asked.pending).toMatchObject([{ reason: 'outcome-unknown' }]);
      expect(await first.file('effects.txt')).not.toContain('late');
      expect(startsIn(await eventsOf(second, taskId))).toBe(1);
    });
  });

  describe('a slow database', () => {
    it('R117 each answer takes 200 ms, and the servers keep their leases: the command runs once, on its server', async () => {
      const first = await replica(proxy.url);
      const second = await replica(proxy.url);
      proxy.delayAnswers(200);
      const { gate, taskId, decided } = await runningCommand(first);
      const looked = await second.peer.task(taskId);
      expect(looked.state).toBe('WORKING');
      await gate.pass();
      expect((await decided.rest()).at(-1)?.state).toBe('COMPLETED');
      expect(startsIn(await eventsOf(second, taskId))).toBe(1);
      expect(first.server.log()).not.toMatch(/lost the task/);
    });
  });

  describe('a database without a free connection', () => {
    it('R117 other programs use all connections: the servers keep their tasks, and a command ends as usual', async () => {
      const first = await replica();
      const second = await replica();
      const { gate, taskId, decided } = await runningCommand(first);
      const others = await takeAllConnections(url);
      await gate.pass();
      expect((await decided.rest()).at(-1)?.state).toBe('COMPLETED');
      await Promise.all(others.map((other) => other.end()));
      expect((await second.peer.task(taskId)).state).toBe('COMPLETED');
      expect(startsIn(await eventsOf(second, taskId))).toBe(1);
      expect(first.server.log()).not.toMatch(/lost the task/);
    });
  });

  describe('a client that reaches another server with each request', () => {
    it('R110 delegation, look, approval and result each come from another server', async () => {
      const [first, second, third] = [await replica(), await replica(), await replica()];
      const sent = await first.peer.send(
        plan(write('a.txt', 'one'), write('b.txt', 'two'), { say: 'We end.' }),
      );
      const looked = await second.peer.task(sent.taskId);
      expect(looked.pending).toEqual(sent.pending);
      const again = await (
        await third.peer.decide(sent.taskId, [decisionOn(looked.pending, 'approve')])
      ).parked();
      expect((await first.peer.task(sent.taskId)).pending).toEqual(again.pending);
      const ended = await (
        await second.peer.decide(sent.taskId, [decisionOn(again.pending, 'approve')])
      ).rest();
      expect(ended.at(-1)?.state).toBe('COMPLETED');
      expect(await first.file('b.txt')).toBe('two');
      const histories = await Promise.all([first, second, third].map((each) => eventsOf(each, sent.taskId)));
      for (const events of histories) {
        expect(events.map(({ data }) => data)).toEqual(histories[0]?.map(({ data }) => data));
        expect(startsIn(events)).toBe(2);
      }
    });

    it('R111 a stream on one server shows a command that runs on another, live and to its end', async () => {
      const first = await replica();
      const second = await replica();
      const { gate, taskId, decided } = await runningCommand(first);
      const stream = await second.peer.follow(taskId, 0);
      await stream.output('running');
      await gate.pass();
      expect((await stream.rest()).at(-1)?.state).toBe('COMPLETED');
      expect((await decided.rest()).at(-1)?.state).toBe('COMPLETED');
      expect(stream.seen.map(({ data }) => data)).toEqual(
        (await eventsOf(first, taskId)).map(({ data }) => data),
      );
    });
  });

  describe('secrets that servers share', () => {
    it('R111 each server signs receipts with the same key, and accepts the stream tickets of the others', async () => {
      const env = { A2A_SERVER_DATABASE: url, A2A_SERVER_TOKENS: `team=${TEAM_TOKEN}` };
      const stages = await Promise.all([stage({ env }), stage({ env })]);
      const [first, second] = stages.map(({ server }) => new A2aPeer({ url: server.url, token: TEAM_TOKEN }));
      if (first === undefined || second === undefined) throw new Error('two servers have started');
      const get = { method: 'GET' };
      const keys = await Promise.all(
        [first, second].map(async (peer) => jsonOf(await peer.request('/api/receipt-key', get))),
      );
      expect(keys[1]).toEqual(keys[0]);
      const { taskId } = await first.send('paint the moon');
      const path = `/api/tasks/${taskId}/events`;
      const { ticket } = z
        .object({ ticket: z.string() })
        .parse(await jsonOf(await first.request(`${path}/ticket`, { method: 'POST' })));
      const answer = await fetch(`${stages[1]?.server.url}${path}?ticket=${ticket}&after=0`);
      expect(answer.status).toBe(200);
      await answer.body?.cancel();
    });
  });

  describe('the key of push notifications', () => {
    it('X1 each server publishes and uses the key of a rotation, while it runs', async () => {
      const stages = [];
      for (let count = 0; count < 2; count += 1)
        stages.push(await replica(url, ['--allow-private-host', '127.0.0.1']));
      const [first, second] = stages;
      if (first === undefined || second === undefined) throw new Error('two servers have started');
      const [old] = await publishedKids(first);
      expect(await publishedKids(second)).toEqual([old]);
      const rotate = (...args: string[]) =>
        runFile(process.execPath, [PROGRAM, 'push', 'rotate-key', ...args], {
          env: {
            PATH: process.env['PATH'],
            A2A_SERVER_DATABASE: url,
            MCP_A2A_BRIDGE_HOME: first.server.stateDir,
          },
        });
      await rotate();
      for (const each of stages) while ((await publishedKids(each)).length < 2) await pause();
      expect(await publishedKids(second)).toEqual(await publishedKids(first));

      await rotate('--revoke');
      for (const each of stages) while ((await publishedKids(each)).length > 1) await pause();
      const [next] = await publishedKids(first);
      expect(next).not.toBe(old);
      const receiver = await pushReceiver();
      try {
        const { taskId } = await first.peer.send(plan(write('a.txt', 'one')));
        await first.peer.call('CreateTaskPushNotificationConfig', { taskId, url: receiver.url });
        await receiver.until(() => receiver.notifications.length === 1);
        // The receiver may read the keys from any server.
        const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', second.server.url));
        const signature = String(receiver.notifications[0]?.headers['x-a2a-notification-signature']);
        const { protectedHeader } = await jwtVerify(signature, keys, { audience: receiver.url });
        expect(protectedHeader.kid).toBe(next);
      } finally {
        await receiver.stop();
      }
    });
  });

  describe('a page at another server', () => {
    it('R111 its stream of changes sends an event when a task changes on the first server', async () => {
      const [first, second] = [await replica(), await replica()];
      const get = await signedIn(second);
      const end = new AbortController();
      const response = await get('/task-changes', end.signal);
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      expect((await reader?.read())?.value).toBe('data: {}\n\n');
      const after = reader?.read();
      await first.peer.send('paint the moon');
      expect((await after)?.value).toBe('data: {}\n\n');
      end.abort();
    });
  });

  describe('a task that is cancelled through another server', () => {
    it('R115 the command of its owner stops', async () => {
      const first = await replica();
      const second = await replica();
      const { gate, taskId } = await runningCommand(first);
      expect((await second.peer.cancel(taskId)).state).toBe('CANCELED');
      await untilEnded(first);
      await gate.pass();
      expect(await first.file('effects.txt')).not.toContain('late');
      const ended = await second.peer.task(taskId);
      await first.server.stop();
      expect(await second.peer.task(taskId)).toEqual(ended);
    });
  });

  describe('a tool that is aborted through another server', () => {
    it('R115 each server lists the tool, and one that does not run it can stop it; the task continues', async () => {
      const first = await replica();
      const second = await replica();
      const { gate, taskId, decided } = await runningCommand(first);
      const [listed] = await toolsAt(second);
      expect(listed).toMatchObject({ taskId, tool: 'run-shell-command', progress: 'running' });
      expect(await toolsAt(first)).toMatchObject([{ taskId, progress: 'running' }]);
      const toolId = listed?.toolId ?? '';
      const answers = await Promise.all([
        second.peer.abort(toolId, 'enough'),
        second.peer.abort(toolId, 'enough'),
      ]);
      const again = { success: false, message: expect.stringContaining('already aborted') };
      expect(answers).toContainEqual({
        success: true,
        message: `Successfully aborted tool execution: ${toolId}`,
      });
      expect(answers).toContainEqual(again);
      await untilEnded(first);
      await gate.pass();
      const end = activitiesOf(await decided.rest()).find(({ type }) => type === 'tool.finished');
      expect(end).toMatchObject({ toolId, outcome: 'stopped', stopReason: 'abort-request' });
      expect((await second.peer.task(taskId)).state).toBe('COMPLETED');
      expect(await first.file('effects.txt')).not.toContain('late');
      expect(await toolsAt(second)).toEqual([]);
      expect(await second.peer.abort(toolId)).toEqual(again);
      expect(await second.peer.abort('unknown')).toMatchObject({ success: false });
    });

    it('if the server that runs the tool has died, the answer says that the outcome is unknown', async () => {
      const first = await replica();
      const second = await replica();
      const { taskId } = await runningCommand(first);
      const [listed] = await toolsAt(second);
      await first.server.kill();
      process.kill(-Number(await first.file('effects.txt')), 'SIGKILL');
      const toolId = listed?.toolId ?? '';
      expect(await second.peer.abort(toolId, 'enough')).toEqual({
        success: false,
        message: expect.stringContaining('its outcome is unknown'),
      });
      await untilAsked(second, taskId);
    });
  });

  describe('a server that loses its lease', () => {
    it('R113 stopped past its lease: it stops its command and appends nothing', async () => {
      const first = await replica();
      const second = await replica();
      const { gate, taskId } = await runningCommand(first);
      process.kill(first.server.pid, 'SIGSTOP');
      const asked = await untilAsked(second, taskId);
      expect(asked.pending).toMatchObject([{ reason: 'outcome-unknown' }]);
      process.kill(first.server.pid, 'SIGCONT');
      await first.server.logged(/lost the task/);
      await untilEnded(first);
      await gate.pass();
      expect(await first.file('effects.txt')).not.toContain('late');
      expect(await second.peer.task(taskId)).toEqual(asked);
      expect(await first.server.stop()).toBe(0);
    });

    it('R113 stopped past its lease when the start of an approved command is stored: it does not run the command', async () => {
      // The server stops when it has received the answer, before any timer.
      const stopAtAnswer = `
        import { Socket } from 'node:net';
        const { push, write } = Socket.prototype;
        const asked = new WeakSet();
        Socket.prototype.write = function (data, ...rest) {
          if (Buffer.isBuffer(data) && data.includes('tool.started')) asked.add(this);
          return write.call(this, data, ...rest);
        };
        Socket.prototype.push = function (...data) {
          if (asked.delete(this)) process.kill(process.pid, 'SIGSTOP');
          return push.apply(this, data);
        };`;
      const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(stopAtAnswer)}`;
      const home = await newServerHome();
      cleanUpLater(() => rm(homeDirectoryOf(home), { recursive: true, force: true }));
      const args = ['-e', RECORDING_MCP_SERVER, join(home.workspace, 'effects.txt')];
      const mcpServers = { recorder: { command: process.execPath, args, env: { NODE_OPTIONS: '' } } };
      await writeFile(join(home.stateDir, 'config.json'), JSON.stringify({ server: { mcpServers } }));
      const first = await stage({ home, env: { A2A_SERVER_DATABASE: url, NODE_OPTIONS } });
      const second = await stage({
        args: ['--workspace', home.workspace],
        env: { A2A_SERVER_DATABASE: url },
      });
      const text = plan({ tool: 'mcp__recorder__note', input: {} }, { say: 'We end.' });
      const { taskId, pending } = await (await first.peer.stream(text)).parked();
      const decided = first.peer.decide(taskId, [decisionOn(pending, 'approve')]).catch(() => undefined);
      while ((await second.peer.task(taskId)).pending[0]?.reason !== 'outcome-unknown') await pause();
      process.kill(first.server.pid, 'SIGCONT');
      await first.server.logged(/lost the task/);
      await decided;
      expect(await first.server.stop()).toBe(0);
      expect(await first.file('effects.txt')).toBeUndefined();
    });

    it('R114 cut off from the database: it stops its command, and another server continues', async () => {
      const first = await replica(proxy.url);
      const second = await replica();
      const { gate, taskId } = await runningCommand(first);
      proxy.freeze();
      await first.server.logged(/lost the task/);
      await untilEnded(first);
      const asked = await untilAsked(second, taskId);
      expect(asked.pending).toMatchObject([{ reason: 'outcome-unknown' }]);
      await gate.pass();
      expect(await first.file('effects.txt')).not.toContain('late');
      proxy.cut();
    });
  });
});
