/** Tests an ACP agent, as a real process, that works on a task. */
import { describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { agentProgram } from '../../support/acp-agent/agent-program.ts';
import { steps, type ToolCallStep } from '../../support/acp-agent/step.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { personWithPasskey } from '../../support/person-with-passkey.ts';
import { ADA, decisionMessage, messageOf } from '../../support/task-service.ts';
import { eventsOf, pendingOf, startAcp, wordsOf } from './acp-service.ts';
import { command, effects } from './steps-with-effects.ts';

describe('an agent that speaks ACP', () => {
  it('a message with an image is refused before the agent starts, and the error says how the agent can read it', async () => {
    const acp = await startAcp(await agentProgram());
    const asked = messageOf('What is this?');
    const file = { hash: 'a'.repeat(64), bytes: 70, mediaType: 'image/png', name: 'shot.png' };
    const parts = [...asked.message.parts, { type: 'stored-file' as const, file }];
    await expect(acp.send({ ...asked, message: { ...asked.message, parts } })).rejects.toMatchObject({
      reason: 'UNSUPPORTED_CONTENT',
      message:
        'The model acp:program takes no image/png (shot.png). Nothing was sent to it. Put the files into the workspace and name them in the message: an ACP agent reads them itself.',
    });
  });

  it('an ACP agent sends its text, thoughts, plan and tool activity as events of the task', async () => {
    const acp = await startAcp(await agentProgram());
    const done = await acp.play(
      { think: 'What is\nto be done?' },
      {
        plan: [
          { content: 'Look around', status: 'completed' },
          { content: 'Write', status: 'pending' },
        ],
      },
      { say: 'I look ' },
      { say: 'around.' },
      { tool: { id: 't1', kind: 'read', title: 'Read notes.md', output: ['secret'] } },
      {
        tool: {
          id: 't2',
          kind: 'edit',
          title: 'Write notes.md',
          diff: { path: join(acp.workspace, 'notes.md'), oldText: 'one\n', newText: 'two\n' },
        },
      },
      { say: 'Done.' },
    );
    expect(done.status).toEqual({ state: 'completed' });
    expect(wordsOf(done)).toBe('I look around.\n\nDone.');
    const turn = done.exchanges.findLast(({ type }) => type === 'turn');
    expect(turn).toMatchObject({
      turn: {
        model: 'acp:program',
        artifacts: [
          {
            artifactId: 'plan',
            parts: [
              { text: '- [x] Look around\n- [ ] Write' },
              { data: { entries: [{ content: 'Look around' }, {}] } },
            ],
          },
          {
            artifactId: 'tool-t2',
            name: 'Write notes.md',
            parts: [{ text: expect.stringContaining('-one\n+two\n') }],
          },
        ],
      },
    });
    const notes = (await eventsOf(acp, done.taskId)).flatMap((event) =>
      event.type === 'turn.noted' ? [event.text] : [],
    );
    expect(notes).toEqual(['to be done?', 'Read notes.md', 'Write notes.md']);
    expect(acp.service.failures).toEqual([]);
  });

  it('an ACP agent’s permission request becomes a pending action, and the approved call runs once', async () => {
    const agent = await agentProgram();
    const acp = await startAcp(agent);
    const parked = await acp.play(
      { say: 'I run it. ' },
      { ask: [command('a', { output: ['making ', 'made'] })] },
      { say: 'It is made.' },
    );
    const [action] = pendingOf(parked);
    expect(action).toMatchObject({
      tool: 'execute',
      title: 'Run make a',
      source: { type: 'acp-agent' },
      sideEffect: 'command',
      preview: { type: 'command', command: 'make a', cwd: acp.workspace },
      decisions: ['approve', 'deny'],
    });
    expect(await effects(acp)).toBe('');
    const callId = action?.callId ?? '';
    const done = await acp.decide(parked);
    expect(done.status).toEqual({ state: 'completed' });
    expect(done.calls[callId]?.state).toMatchObject({
      result: { outcome: { type: 'ok', text: 'making made', summary: 'Run make a: done' } },
    });
    expect(wordsOf(done)).toBe('I run it. It is made.');
    expect(await effects(acp)).toBe('a\n');
    expect(await agent.answers()).toEqual(['a: allow_once']);
    expect((await agent.prompts()).length).toBe(1);
    const output = (await eventsOf(acp, done.taskId)).flatMap((event) =>
      event.type === 'tool.output' ? [event.text] : [],
    );
    expect(output.join('')).toBe('making made');
  });

  it('D3 the server shows parallel calls together, and runs none of them before the person has decided about all', async () => {
    const agent = await agentProgram();
    const acp = await startAcp(agent);
    const parked = await acp.play({ ask: [command('a'), command('b'), command('c')] }, { say: 'End.' });
    const [a, b, c] = pendingOf(parked).map(({ callId }) => callId);
    expect([a, b, c]).not.toContain(undefined);
    const still = await acp.send(decisionMessage(parked, { callId: a ?? '', decision: 'approve' }));
    expect(pendingOf(still).map(({ callId }) => callId)).toEqual([b, c]);
    expect(await agent.answers()).toEqual([]);
    const done = await acp.send(
      decisionMessage(
        still,
        { callId: b ?? '', decision: 'deny', reason: 'not b' },
        { callId: c ?? '', decision: 'approve' },
      ),
    );
    expect(done.status).toEqual({ state: 'completed' });
    expect(await effects(acp)).toBe('a\nc\n');
    expect(await agent.answers()).toEqual(['a: allow_once', 'b: reject_once', 'c: allow_once']);
    expect(wordsOf(done)).toBe('Not allowed: Run make b. End.');
  });

  it('R02 after a denial, the agent receives the denial and continues', async () => {
    const agent = await agentProgram();
    const acp = await startAcp(agent);
    const parked = await acp.play({ ask: [command('a')] }, { say: 'Then not.' });
    const done = await acp.decide(parked, 'deny');
    expect(done.status).toEqual({ state: 'completed' });
    expect(wordsOf(done)).toBe('Not allowed: Run make a. Then not.');
    expect([await effects(acp), await agent.answers()]).toEqual(['', ['a: reject_once']]);
  });

  it('R13 under autoExecute the server allows each call separately, and each permission is valid once', async () => {
    const agent = await agentProgram();
    const acp = await startAcp(agent);
    const all = ['allow_always', 'allow_once', 'reject_once'] as const;
    const done = await acp.send(
      messageOf(
        steps({ ask: [command('a', { options: [...all] })] }, { ask: [command('b')] }, { say: 'End.' }),
        {
          settings: { autoExecute: true },
        },
      ),
    );
    expect(done.status).toEqual({ state: 'completed' });
    expect(Object.values(done.calls).map(({ state }) => state.type)).toEqual(['settled', 'settled']);
    expect([await effects(acp), await agent.answers()]).toEqual([
      'a\nb\n',
      ['a: allow_once', 'b: allow_once'],
    ]);
  });

  it('R12 trust in a tool lets later calls of that kind run; only the server stores the trust', async () => {
    const agent = await agentProgram();
    const acp = await startAcp(agent);
    const options: ToolCallStep['options'] = ['allow_once', 'allow_always', 'reject_once'];
    const parked = await acp.play(
      { ask: [command('a', { options })] },
      { ask: [command('b')] },
      { ask: [command('c', { kind: 'fetch' })] },
    );
    const again = await acp.decide(parked, { decision: 'approve', scope: 'tool' });
    expect(pendingOf(again)).toMatchObject([{ tool: 'fetch' }]);
    expect(await agent.answers()).toEqual(['a: allow_once', 'b: allow_once']);
  });

  it('R120 a passkey approves one call only, so the server gives an agent no permanent permission for it', async () => {
    const [agent, clock] = [await agentProgram(), new FakeClock()];
    const person = await personWithPasskey(clock);
    const policy = [{ action: 'presence' as const, command: 'make' }];
    const acp = await startAcp(agent, undefined, {}, { policy, presence: person.presence, clock });
    const parked = await acp.play(
      { ask: [command('a')] },
      { ask: [command('b', { options: ['allow_always', 'reject_once'] })] },
      { say: 'End.' },
    );
    const approved = async (saw: typeof parked) => {
      const [action] = pendingOf(saw);
      return acp.send(await person.approval(acp.service.tasks, saw, action?.callId ?? ''));
    };
    const done = await approved(await approved(parked));
    expect(await agent.answers()).toEqual(['a: allow_once', 'b: reject_once']);
    expect(await effects(acp)).toBe('a\n');
    expect(Object.values(done.calls).at(-1)?.state).toMatchObject({
      result: { outcome: { type: 'error', message: expect.stringContaining('permanent') } },
    });
  });

  it('R121 an approval by a demanded approver gives an agent no permanent permission', async () => {
    const agent = await agentProgram();
    const policy = [{ action: 'ask' as const, command: 'make', approver: { group: 'release' } }];
    const acp = await startAcp(agent, undefined, {}, { policy });
    const options: ToolCallStep['options'] = ['allow_always', 'reject_once'];
    const parked = await acp.play({ ask: [command('a', { options })] }, { say: 'End.' });
    const approval = decisionMessage(parked, { decision: 'approve' });
    await acp.send({ ...approval, groups: ['release'] });
    expect([await effects(acp), await agent.answers()]).toEqual(['', ['a: reject_once']]);
  });

  it('D4 a person can only allow or deny a call of an ACP agent, and cannot edit it', async () => {
    const acp = await startAcp(await agentProgram());
    const parked = await acp.play({ ask: [command('a')] });
    const [action] = pendingOf(parked);
    await expect(
      acp.send(
        decisionMessage(parked, {
          callId: action?.callId ?? '',
          decision: 'edit',
          input: { title: 'other' },
        }),
      ),
    ).rejects.toMatchObject({ reason: 'INVALID_DECISION' });
    expect(pendingOf(await acp.service.tasks.snapshot(parked.taskId, { principal: ADA }))).toEqual([action]);
  });

  it('R04 a message that arrives while the agent works becomes the agent’s next prompt', async () => {
    const agent = await agentProgram();
    const acp = await startAcp(agent);
    const parked = await acp.play({ ask: [command('a', { end: 'untold' })] }, { say: 'First. ' });
    const { taskId } = parked;
    const { tasks } = acp.service;
    const accepted = await tasks.send(decisionMessage(parked, { decision: 'approve' }));
    await tasks.send(messageOf(steps({ say: 'Second.' }), { taskId }));
    const { signal } = new AbortController();
    for await (const _ of tasks.follow(taskId, accepted.seq, { until: 'ended', signal }));
    const done = await tasks.snapshot(taskId, { principal: ADA });
    expect(done.status).toEqual({ state: 'completed' });
    expect(wordsOf(done)).toBe('First. Second.');
    expect((await agent.prompts()).length).toBe(2);
  });

  it('the next task of the session uses the same agent process', async () => {
    const agent = await agentProgram();
    const acp = await startAcp(agent);
    const first = await acp.play({ say: 'One.' });
    const second = await acp.send(messageOf(steps({ say: 'Two.' }), { sessionId: first.sessionId }));
    expect(wordsOf(second)).toBe('Two.');
    expect(second.agentSession).toBeNull();
    expect(first.agentSession).not.toBeNull();
    expect((await agent.prompts()).length).toBe(2);
  });
});
