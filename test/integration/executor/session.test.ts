import { describe, expect, it } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { builtinTools } from '../../../a2a-server/tools/builtin/builtin-tools.ts';
import type { Tool } from '../../../a2a-server/tools/tool.ts';
import type { ScriptedTurn } from '../../support/scripted-model.ts';
import {
  ADA,
  decideUntilSettled,
  decisionMessage,
  messageOf,
  pendingCall,
  sendUntilSettled,
  startScripted,
  untilSettled,
} from '../../support/task-service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const write = (path: string, content = 'x') => ({ tool: 'write-file', input: { path, content } });

/** Starts a service whose first turn writes `a.txt`, and waits until the call waits for a decision. */
async function asked(content?: string, ...later: ScriptedTurn[]) {
  const service = await startScripted([{ calls: [write('a.txt', content)] }, ...later]);
  const message = messageOf('write');
  const parked = await sendUntilSettled(service.tasks, message);
  return { ...service, message, parked, file: join(service.workspace, 'a.txt') };
}

describe('a session', () => {
  it('after a session’s task has ended, the next task gets the conversation so far', async () => {
    const { tasks, models } = await startScripted([{ text: 'First answer.' }, { text: 'Second answer.' }]);
    const first = await tasks.send(messageOf('first question'));
    await untilSettled(tasks, first);
    const second = await tasks.send(messageOf('second question', { sessionId: first.sessionId }));
    const snapshot = await untilSettled(tasks, second);
    expect(second.taskId).not.toBe(first.taskId);
    expect(snapshot.sessionId).toBe(first.sessionId);
    expect(models.requests[1]?.conversation).toEqual([
      { role: 'user', text: 'first question' },
      { role: 'assistant', text: 'First answer.', calls: [] },
      { role: 'user', text: 'second question' },
    ]);
  });

  it('the session’s next task gets the workspace of the session, but not its permission to act without questions', async () => {
    const workspace = await temporaryDirectory();
    const turns = [{ calls: [write('a.txt')] }, {}, { calls: [write('a.txt')] }];
    const { tasks } = await startScripted(turns);
    const first = await tasks.send(messageOf('go', { settings: { workspace, autoExecute: true } }));
    expect((await untilSettled(tasks, first)).status.state).toBe('completed');
    const second = await tasks.send(messageOf('again', { sessionId: first.sessionId }));
    const snapshot = await untilSettled(tasks, second);
    expect(snapshot.settings).toEqual({ workspace });
    expect(snapshot.status.state).toBe('input-required');
  });

  it('A2A 1.0 §3.4.3: a message that names one session and the task of another session is refused, and changes neither task', async () => {
    const { tasks } = await startScripted([{}, {}]);
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
    const { tasks, parked } = await asked();
    const { taskId, sessionId } = parked;
    const decision = decisionMessage(parked, { decision: 'approve' });
    expect(decision).toMatchObject({ taskId });
    expect(decision).not.toHaveProperty('sessionId');
    expect(await tasks.send(decision)).toMatchObject({ taskId, sessionId });
  });
});

describe('a call that the person approves', () => {
  it('R10 an approved call runs with the content that the person edited, and the model gets the edited content', async () => {
    const { tasks, models, parked, file } = await asked('theirs');
    await decideUntilSettled(tasks, parked, { decision: 'edit', content: 'mine' });
    expect(await readFile(file, 'utf8')).toBe('mine');
    expect(JSON.stringify(models.requests[1]?.conversation)).toContain('The person changed the input');
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
    const { tasks } = await startScripted([{ calls: [write('a.txt')] }], { tools });
    const waiting = await sendUntilSettled(tasks, messageOf('go'));
    const edit = { decision: 'edit', input: { path: 'a.txt', content: 'y' } } as const;
    const before = previews;
    await expect(tasks.send(decisionMessage(waiting, edit, edit))).rejects.toMatchObject({
      reason: 'INVALID_DECISION',
      message: expect.stringContaining('decided twice in one message'),
    });
    expect(previews).toBe(before);
  });

  it('R10 an edit that does not fit the tool’s schema is refused, and the call still waits', async () => {
    const { tasks, parked } = await asked('theirs');
    for (const input of [{ path: '../out.txt', content: 'x' }, { path: 7, content: 'x' }, {}])
      await expect(tasks.send(decisionMessage(parked, { decision: 'edit', input }))).rejects.toMatchObject({
        reason: 'INVALID_DECISION',
      });
    expect(await tasks.snapshot(parked.taskId, { principal: ADA })).toEqual(parked);
  });

  it('R11 if the file has changed since the question, the server asks about the call again with the new diff, and writes nothing', async () => {
    const { tasks, parked, file } = await asked('new\n');
    await writeFile(file, 'somebody else was here\n');
    const again = await decideUntilSettled(tasks, parked);
    expect(await readFile(file, 'utf8')).toBe('somebody else was here\n');
    const preview = { diff: expect.stringContaining('-somebody else') };
    expect(again.status).toMatchObject({
      state: 'input-required',
      pending: [{ callId: pendingCall(parked), reason: 'content-changed', preview }],
    });
    const done = await decideUntilSettled(tasks, again);
    expect(done.status.state).toBe('completed');
    expect(await readFile(file, 'utf8')).toBe('new\n');
  });

  it('R12 trust for a tool lets later calls of that tool run without a question; the server still asks about other tools', async () => {
    const append = { tool: 'append-file', input: { path: 'b.txt', content: 'y' } };
    const later = [{ calls: [write('b.txt')] }, { calls: [append] }];
    const { tasks, workspace, parked } = await asked('x', ...later);
    const next = await decideUntilSettled(tasks, parked, { decision: 'approve', scope: 'tool' });
    expect(await readFile(join(workspace, 'b.txt'), 'utf8')).toBe('x');
    expect(next.status).toMatchObject({ state: 'input-required', pending: [{ tool: 'append-file' }] });
    expect(next.grants).toMatchObject([{ scope: 'tool', tool: 'write-file' }]);
  });
});

describe('the words approve and deny', () => {
  it('D1 only the words of a client without another way to answer count as decisions', async () => {
    const { tasks, parked } = await asked();
    const { taskId } = parked;
    await expect(tasks.send(messageOf('approve', { taskId }))).rejects.toMatchObject({
      reason: 'DECISION_NEEDED',
    });
    const done = await sendUntilSettled(tasks, messageOf('approve', { taskId, wordsDecide: true }));
    expect(done.status.state).toBe('completed');
  });
});

describe('a message that arrives twice', () => {
  it('R27 R65 the second answer contains the task’s current state, not a question that has been decided since', async () => {
    const { tasks, models, message, parked } = await asked();
    await decideUntilSettled(tasks, parked);
    const again = await tasks.send(message);
    expect(again.taskId).toBe(parked.taskId);
    expect((await tasks.snapshot(again.taskId, { principal: ADA }, again.seq)).status.state).toBe(
      'completed',
    );
    expect(models.requests).toHaveLength(2);
  });
});
