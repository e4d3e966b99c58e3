import { describe, expect, it } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { waitingCalls } from '../../../a2a-server/task/snapshot.ts';
import { builtinTools } from '../../../a2a-server/tools/builtin/builtin-tools.ts';
import type { Tool } from '../../../a2a-server/tools/tool.ts';
import { ScriptedModel } from '../../support/scripted-model.ts';
import {
  ADA,
  decisionMessage,
  messageOf,
  untilSettled,
  startTaskService,
  sendUntilSettled,
} from '../../support/task-service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

async function fresh() {
  return { stateDir: await temporaryDirectory(), workspace: await temporaryDirectory() };
}

/** Returns a call that writes `x`. */
function write(path: string) {
  return { tool: 'write-file', input: { path, content: 'x' } };
}

describe('a session', () => {
  it('after a session’s task has ended, the next task gets the conversation so far', async () => {
    const model = new ScriptedModel([{ text: 'First answer.' }, { text: 'Second answer.' }]);
    const { tasks } = await startTaskService({ ...(await fresh()), models: model });
    const first = await tasks.send(messageOf('first question'));
    await untilSettled(tasks, first);
    const second = await tasks.send(messageOf('second question', { sessionId: first.sessionId }));
    const snapshot = await untilSettled(tasks, second);
    expect(second.taskId).not.toBe(first.taskId);
    expect(snapshot.sessionId).toBe(first.sessionId);
    expect(model.requests[1]?.conversation).toEqual([
      { role: 'user', text: 'first question' },
      { role: 'assistant', text: 'First answer.', calls: [] },
      { role: 'user', text: 'second question' },
    ]);
  });

  it('the session’s next task gets the workspace of the session, but not its permission to act without questions', async () => {
    const { stateDir, workspace } = await fresh();
    const model = new ScriptedModel([{ calls: [write('a.txt')] }, {}, { calls: [write('a.txt')] }]);
    const { tasks } = await startTaskService({ stateDir, workspace: stateDir, models: model });
    const first = await tasks.send(messageOf('go', { settings: { workspace, autoExecute: true } }));
    expect((await untilSettled(tasks, first)).status.state).toBe('completed');
    const second = await tasks.send(messageOf('again', { sessionId: first.sessionId }));
    const snapshot = await untilSettled(tasks, second);
    expect(snapshot.settings).toEqual({ workspace });
    expect(snapshot.status.state).toBe('input-required');
  });

  it('A2A 1.0 §3.4.3: a message that names one session and the task of another session is refused, and changes neither task', async () => {
    const { tasks } = await startTaskService({ ...(await fresh()), models: new ScriptedModel([{}, {}]) });
    const first = await tasks.send(messageOf('one'));
    const second = await tasks.send(messageOf('two'));
    await untilSettled(tasks, first);
    await untilSettled(tasks, second);
    const mixed = messageOf('three', { taskId: first.taskId, sessionId: second.sessionId });
    await expect(tasks.send(mixed)).rejects.toMatchObject({
      reason: 'MALFORMED',
      message: expect.stringContaining(`belongs to session ${first.sessionId}`),
    });
    expect((await tasks.list({ principal: ADA }, { size: 10 })).total).toBe(2);
  });

  it('A2A 1.0 §3.4.3: a message that names only a task belongs to the session of that task', async () => {
    const { stateDir, workspace } = await fresh();
    const model = new ScriptedModel([{ calls: [write('a.txt')] }]);
    const { tasks } = await startTaskService({ stateDir, workspace, models: model });
    const first = await tasks.send(messageOf('write'));
    const parked = await untilSettled(tasks, first);
    const [call] = waitingCalls(parked);
    const decision = decisionMessage(parked, { callId: call?.callId ?? '', decision: 'approve' });
    expect(decision).toMatchObject({ taskId: first.taskId });
    expect(decision).not.toHaveProperty('sessionId');
    const { taskId, sessionId } = first;
    expect(await tasks.send(decision)).toMatchObject({ taskId, sessionId });
  });
});

describe('a call that the person approves', () => {
  it('R10 an approved call runs with the content that the person edited, and the model gets the edited content', async () => {
    const { stateDir, workspace } = await fresh();
    const model = new ScriptedModel([
      { calls: [{ tool: 'write-file', input: { path: 'a.txt', content: 'theirs' } }] },
    ]);
    const { tasks } = await startTaskService({ stateDir, workspace, models: model });
    const parked = await sendUntilSettled(tasks, messageOf('write'));
    const [call] = waitingCalls(parked);
    const accepted = await tasks.send(
      decisionMessage(parked, { callId: call?.callId ?? '', decision: 'edit', content: 'mine' }),
    );
    await untilSettled(tasks, accepted);
    expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe('mine');
    expect(JSON.stringify(model.requests[1]?.conversation)).toContain('The person changed the input');
  });

  it('X3 a message that edits one call twice is refused before the server makes previews of the edits', async () => {
    let previews = 0;
    const tools = builtinTools().map((tool): Tool => ({
      ...tool,
      show(...shown) {
        previews += 1;
        return tool.show(...shown);
      },
    }));
    const model = new ScriptedModel([{ calls: [write('a.txt')] }]);
    const { tasks } = await startTaskService({ ...(await fresh()), models: model, tools });
    const waiting = await sendUntilSettled(tasks, messageOf('go'));
    const callId = waitingCalls(waiting)[0]?.callId ?? '';
    const edit = { callId, decision: 'edit', input: { path: 'a.txt', content: 'y' } } as const;
    const before = previews;
    await expect(tasks.send(decisionMessage(waiting, edit, edit))).rejects.toMatchObject({
      reason: 'INVALID_DECISION',
      message: expect.stringContaining('decided twice in one message'),
    });
    expect(previews).toBe(before);
  });

  it('R10 an edit that does not fit the tool’s schema is refused, and the call still waits', async () => {
    const { stateDir, workspace } = await fresh();
    const model = new ScriptedModel([
      { calls: [{ tool: 'write-file', input: { path: 'a.txt', content: 'theirs' } }] },
    ]);
    const { tasks } = await startTaskService({ stateDir, workspace, models: model });
    const parked = await sendUntilSettled(tasks, messageOf('write'));
    const callId = waitingCalls(parked)[0]?.callId ?? '';
    for (const input of [{ path: '../out.txt', content: 'x' }, { path: 7, content: 'x' }, {}])
      await expect(
        tasks.send(decisionMessage(parked, { callId, decision: 'edit', input })),
      ).rejects.toMatchObject({
        reason: 'INVALID_DECISION',
      });
    expect(await tasks.snapshot(parked.taskId, { principal: ADA })).toEqual(parked);
  });

  it('R11 if the file has changed since the question, the server asks about the call again with the new diff, and writes nothing', async () => {
    const { stateDir, workspace } = await fresh();
    const model = new ScriptedModel([
      { calls: [{ tool: 'write-file', input: { path: 'a.txt', content: 'new\n' } }] },
    ]);
    const { tasks } = await startTaskService({ stateDir, workspace, models: model });
    const parked = await sendUntilSettled(tasks, messageOf('write'));
    const callId = waitingCalls(parked)[0]?.callId ?? '';
    await writeFile(join(workspace, 'a.txt'), 'somebody else was here\n');
    const asked = await sendUntilSettled(tasks, decisionMessage(parked, { callId, decision: 'approve' }));
    expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe('somebody else was here\n');
    expect(asked.status).toMatchObject({
      state: 'input-required',
      pending: [
        { callId, reason: 'content-changed', preview: { diff: expect.stringContaining('-somebody else') } },
      ],
    });
    const done = await sendUntilSettled(tasks, decisionMessage(asked, { callId, decision: 'approve' }));
    expect(done.status.state).toBe('completed');
    expect(await readFile(join(workspace, 'a.txt'), 'utf8')).toBe('new\n');
  });

  it('R12 trust for a tool lets later calls of that tool run without a question; the server still asks about other tools', async () => {
    const { stateDir, workspace } = await fresh();
    const model = new ScriptedModel([
      { calls: [write('a.txt')] },
      { calls: [write('b.txt')] },
      { calls: [{ tool: 'append-file', input: { path: 'b.txt', content: 'y' } }] },
    ]);
    const { tasks } = await startTaskService({ stateDir, workspace, models: model });
    const parked = await sendUntilSettled(tasks, messageOf('write'));
    const callId = waitingCalls(parked)[0]?.callId ?? '';
    const next = await sendUntilSettled(
      tasks,
      decisionMessage(parked, { callId, decision: 'approve', scope: 'tool' }),
    );
    expect(await readFile(join(workspace, 'b.txt'), 'utf8')).toBe('x');
    expect(next.status).toMatchObject({ state: 'input-required', pending: [{ tool: 'append-file' }] });
    expect(next.grants).toMatchObject([{ scope: 'tool', tool: 'write-file' }]);
  });
});

describe('the words approve and deny', () => {
  it('D1 only the words of a client without another way to answer count as decisions', async () => {
    const { stateDir, workspace } = await fresh();
    const model = new ScriptedModel([{ calls: [write('a.txt')] }]);
    const { tasks } = await startTaskService({ stateDir, workspace, models: model });
    const { taskId } = await sendUntilSettled(tasks, messageOf('write'));
    await expect(tasks.send(messageOf('approve', { taskId }))).rejects.toMatchObject({
      reason: 'DECISION_NEEDED',
    });
    const done = await sendUntilSettled(tasks, messageOf('approve', { taskId, wordsDecide: true }));
    expect(done.status.state).toBe('completed');
  });
});

describe('a message that arrives twice', () => {
  it('R27 R65 the second answer contains the task’s current state, not a question that has been decided since', async () => {
    const { stateDir, workspace } = await fresh();
    const model = new ScriptedModel([{ calls: [write('a.txt')] }]);
    const { tasks } = await startTaskService({ stateDir, workspace, models: model });
    const message = messageOf('write');
    const parked = await sendUntilSettled(tasks, message);
    const callId = waitingCalls(parked)[0]?.callId ?? '';
    await sendUntilSettled(tasks, decisionMessage(parked, { callId, decision: 'approve' }));
    const again = await tasks.send(message);
    expect(again.taskId).toBe(parked.taskId);
    expect((await tasks.snapshot(again.taskId, { principal: ADA }, again.seq)).status.state).toBe(
      'completed',
    );
    expect(model.requests).toHaveLength(2);
  });
});
