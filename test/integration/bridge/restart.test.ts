import { describe, expect, test } from '@jest/globals';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { rowsIn } from '../../support/bridge-database.ts';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import { TOOL_APPROVAL_EXTENSION } from '../../../shared/protocol/tool-approval.ts';
import {
  APPROVE_ONE,
  CHECK,
  DECIDE,
  DELEGATE,
  LIST,
  WAIT,
  startAgent,
  startClient,
  stateDirectory,
  onOwnBridge,
} from './support/bridge-stage.ts';
import { textOf, refusalOf } from './support/raw-client.ts';

describe('a bridge that is killed', () => {
  test('R65 B1 if the bridge is killed before the agent answers its message, the next bridge sends the same message, and the agent has one task', async () => {
    const stateDir = await stateDirectory();
    const agent = await startAgent({ onMessage: (task, text) => task.work().say(`did ${text}`).complete() });
    const release = agent.hold();
    const first = await startClient(agent, { stateDir });
    void first.call(DELEGATE, { task: 'it once' });
    await agent.asked('SendStreamingMessage');
    await first.kill();
    release();
    // The next bridge sends the message again at its start, without a call.
    const second = await startClient(agent, { stateDir });
    await agent.asked('SendStreamingMessage', 2);
    const [one, two] = agent.requests.filter((each) => each.method === 'SendStreamingMessage');
    expect(two?.params).toEqual(one?.params);
    const listed = await second.call(LIST, {});
    expect(textOf(listed)).toContain('session-1');
    const result = await second.call(WAIT, { sessionId: 'session-1' });
    expect(result.structuredContent).toMatchObject({ state: 'completed', output: 'did it once' });
    expect(agent.tasks.size).toBe(1);
  });

  test('R65 if the bridge is killed before an agent without de-duplication answers, the next bridge searches the agent’s tasks', async () => {
    const {
      agent,
      client: first,
      again,
    } = await onOwnBridge({
      extensions: [TOOL_APPROVAL_EXTENSION],
      onMessage: (task) => task.work(),
    });
    const release = agent.hold();
    void first.call(DELEGATE, { task: 'it once' });
    await agent.asked('SendStreamingMessage');
    await first.kill();
    release();
    const second = await again();
    await agent.asked('ListTasks');
    agent.task.say('found').complete();
    const result = await second.call(WAIT, { sessionId: 'session-1' });
    expect(result.structuredContent).toMatchObject({ state: 'completed', output: 'found' });
    expect(agent.count('SendStreamingMessage')).toBe(1);
  });

  test('B3 if the bridge is killed after a call that does not wait, the next bridge finds the session and the task by their ids', async () => {
    const { agent, client: first, again } = await onOwnBridge({ onMessage: (task) => task.work() });
    const handle = await first.call(DELEGATE, { task: 'walk away', waitSeconds: 0 });
    expect(handle.structuredContent).toMatchObject({ sessionId: 'session-1', taskId: 'task-1' });
    await first.kill();
    const second = await again();
    const waiting = second.call(WAIT, { sessionId: 'session-1' });
    agent.task.say('done').complete();
    expect((await waiting).structuredContent).toMatchObject({ state: 'completed', output: 'done' });
  });

  test.each(['tool-approval with resuming', 'tool-approval alone'])(
    'B3 if the bridge is killed while it sends a message, the next bridge finds the session by the message id (%s)',
    async (kind) => {
      const stateDir = await stateDirectory();
      const agent = await startAgent({
        ...(kind === 'tool-approval alone' ? { extensions: [TOOL_APPROVAL_EXTENSION] } : {}),
        onMessage: (task) => task.work().say('done').complete(),
      });
      const release = agent.hold();
      const first = await startClient(agent, { stateDir });
      void first.call(DELEGATE, { task: 'it once', waitSeconds: 0 });
      await agent.asked('SendStreamingMessage');
      const sessionId = await messageIdIn(stateDir);
      if (kind === 'tool-approval alone') release();
      await first.kill();
      const second = await startClient(agent, { stateDir });
      const waiting = second.call(WAIT, { sessionId });
      if (kind !== 'tool-approval alone') await agent.asked('SendStreamingMessage', 2);
      release();
      expect((await waiting).structuredContent).toMatchObject({ sessionId: 'session-1', output: 'done' });
      const again = await second.call(CHECK, { sessionId });
      expect(again.structuredContent).toMatchObject({ sessionId: 'session-1', state: 'completed' });
      const listed = await second.call(LIST, {});
      expect(listed.structuredContent).toMatchObject({ sessions: [{ sessionId: 'session-1' }] });
      expect(textOf(listed)).not.toContain(sessionId);
      expect(agent.tasks.size).toBe(1);
    },
  );

  test('B3 a second bridge can wait for a message that the first bridge is still sending', async () => {
    const stateDir = await stateDirectory();
    const agent = await startAgent({ onMessage: (task) => task.work().ask(pendingWrite('one')) });
    const release = agent.hold();
    const first = await startClient(agent, { stateDir });
    void first.call(DELEGATE, { task: 'mine' });
    await agent.asked('SendStreamingMessage');
    const sessionId = await messageIdIn(stateDir);
    const second = await startClient(agent, { stateDir });
    const early = await second.call(CHECK, { sessionId });
    expect(refusalOf(early)).toContain('not delivered yet');
    const waiting = second.call(WAIT, { sessionId });
    release();
    expect((await waiting).structuredContent).toMatchObject({
      sessionId: 'session-1',
      state: 'input_required',
    });
    expect(agent.count('SendStreamingMessage')).toBe(1);
  });

  test('B3 if the bridge is killed while an action is pending, the next bridge lists the session, shows the action and decides it', async () => {
    const {
      agent,
      client: first,
      again,
    } = await onOwnBridge({
      onMessage: (task) => task.work().ask(pendingWrite('one')),
      onDecisions: (task) => task.work().say('written').complete(),
    });
    await first.call(DELEGATE, { task: 'ask' });
    await first.kill();
    const second = await again();
    const listed = await second.call(LIST, { state: 'input_required' });
    expect(listed.structuredContent).toMatchObject({
      sessions: [{ sessionId: 'session-1', title: 'ask', pending: 1 }],
    });
    const decided = await second.call(DECIDE, { sessionId: 'session-1', ...APPROVE_ONE });
    expect(decided.structuredContent).toMatchObject({ state: 'completed', output: 'written' });
    expect(agent.decisions).toMatchObject([{ callId: 'one', shown: 'hash-of-one' }]);
  });

  test('B1 the outbox entry of a message is on disk before the bridge sends it, only its owner can read it, and it closes with the collected result', async () => {
    const stateDir = await stateDirectory();
    let seen: unknown;
    let mode: number | undefined;
    const agent = await startAgent({ onMessage: (task) => task.work().say('done').complete() });
    agent.gate = (async () => {
      await agent.asked('SendStreamingMessage');
      seen = await rowsIn(stateDir, 'SELECT agent, title, state FROM delegations');
      mode = (await stat(join(stateDir, 'bridge.db'))).mode & 0o777;
    })();
    const client = await startClient(agent, { stateDir });
    await client.call(DELEGATE, { task: 'note it' });
    expect(seen).toEqual([['agent', 'note it', 'sending']]);
    expect(mode).toBe(0o600);
    // A normal end writes all pending changes before the process exits.
    expect(await client.close()).toBe(0);
    expect(await rowsIn(stateDir, 'SELECT state FROM delegations')).toEqual([['collected']]);
  });

  test('B3 a bridge shows the current state of a session that another bridge continued', async () => {
    const { client: first, again } = await onOwnBridge({
      onMessage: (task, text) => task.work().say(`did ${text}`).complete(),
    });
    const second = await again();
    await first.call(DELEGATE, { task: 'one' });
    await second.call(DELEGATE, { task: 'two', sessionId: 'session-1' });
    const seen = await first.call(WAIT, { sessionId: 'session-1' });
    expect(seen.structuredContent).toMatchObject({ taskId: 'task-2', output: 'did two' });
  });

  test('a bridge says that it has not seen all changes if another bridge has decided', async () => {
    const agent = await startAgent({
      onMessage: (task) => task.work().ask(pendingWrite('one')),
      onDecisions: (task) => task.work().ask(pendingWrite('two')),
    });
    const [first, second] = [await startClient(agent), await startClient(agent)];
    await first.call(DELEGATE, { task: 'ask' });
    const before = await first.call(CHECK, { sessionId: 'session-1' });
    expect(before.structuredContent).toMatchObject({ changesComplete: true });
    await second.call(DECIDE, { sessionId: 'session-1', ...APPROVE_ONE });
    const after = await first.call(CHECK, { sessionId: 'session-1' });
    expect(after.structuredContent).toMatchObject({ pending: [{ callId: 'two' }], changesComplete: false });
  });

  test('after the agent was restored from a backup, the bridge shows and decides the older state', async () => {
    const { agent, client } = await onOwnBridge({
      onMessage: (task) => task.work().ask(pendingWrite('one')),
      onDecisions: (task) => task.work().ask(pendingWrite('two')),
    });
    await client.call(DELEGATE, { task: 'ask' });
    await client.call(DECIDE, { sessionId: 'session-1', ...APPROVE_ONE });
    agent.task.seq = 1;
    agent.task.events.length = 0;
    agent.task.ask(pendingWrite('one'));
    const checked = await client.call(CHECK, { sessionId: 'session-1' });
    expect(checked.structuredContent).toMatchObject({
      pending: [{ callId: 'one' }],
      changes: ['working'],
      changesComplete: false,
    });
    const decided = await client.call(DECIDE, { sessionId: 'session-1', ...APPROVE_ONE });
    expect(decided.structuredContent).toMatchObject({ pending: [{ callId: 'two' }] });
    expect(textOf(decided)).toContain('older state');
  });

  test('a bridge does not take over a message that another bridge of the same user is still sending', async () => {
    const stateDir = await stateDirectory();
    const agent = await startAgent({ onMessage: (task) => task.work().say('done').complete() });
    const release = agent.hold();
    const first = await startClient(agent, { stateDir });
    const sending = first.call(DELEGATE, { task: 'mine' });
    await agent.asked('SendStreamingMessage');
    const second = await startClient(agent, { stateDir });
    await second.call(LIST, {});
    const owners = await rowsIn(stateDir, 'SELECT owner FROM delegations');
    expect(owners).toEqual([[expect.stringContaining(`${String(first.process.pid)}-`)]]);
    expect(agent.count('SendStreamingMessage')).toBe(1);
    release();
    expect((await sending).structuredContent).toMatchObject({ output: 'done' });
    expect(agent.count('SendStreamingMessage')).toBe(1);
  });
});

/**
 * Returns the message id of the only delegation in the outbox. This id names the session until the agent has named
 * it.
 */
async function messageIdIn(stateDir: string): Promise<string> {
  const [row] = await rowsIn(stateDir, 'SELECT message_id FROM delegations');
  return String(row?.[0]);
}
