/** Tests restarts of the ACP agent's process and of the server's process. An approved call must run exactly once. */
import { describe, expect, it } from '@jest/globals';
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { AcpOptions } from '../../../a2a-server/models/acp/open-agent.ts';
import { systemClock, type Clock } from '../../../shared/runtime/clock.ts';
import { agentProgram, type AgentProgram } from '../../support/acp-agent/agent-program.ts';
import { steps } from '../../support/acp-agent/step.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { ADA, decisionMessage, messageOf, untilSettled } from '../../support/task-service.ts';
import { eventsOf, happens, pendingOf, startAcp, wordsOf, type AcpService } from './acp-service.ts';
import { command, effects } from './steps-with-effects.ts';

/** Starts the next process on the same home directory. */
async function again(before: AcpService, agent: AgentProgram): Promise<AcpService> {
  await before.stop();
  return startAcp(agent, before);
}

async function parkedOn(agent: AgentProgram, text: string, options: Partial<AcpOptions> = {}) {
  const acp = await startAcp(agent, undefined, options);
  const parked = await acp.send(messageOf(text));
  const [action] = pendingOf(parked);
  return { acp, parked, taskId: parked.taskId, callId: action?.callId ?? '' };
}

describe('an ACP agent after a restart of the server', () => {
  it.each(['load', 'resume'])(
    'R20 the agent asks for the approved call again (session/%s), and the call runs once',
    async (how) => {
      const agent = await agentProgram(...(how === 'resume' ? ['resume'] : []));
      const text = steps({ say: 'Before. ' }, { ask: [command('a'), command('b')] }, { say: 'After.' });
      const { acp, parked } = await parkedOn(agent, text);
      const after = await again(acp, agent);
      const [, b] = pendingOf(parked);
      const done = await after.send(
        decisionMessage(parked, { decision: 'approve' }, { callId: b?.callId ?? '', decision: 'approve' }),
      );
      expect(done.status).toEqual({ state: 'completed' });
      expect(await effects(after)).toBe('a\nb\n');
      expect(await agent.answers()).toEqual(['a: allow_once', 'b: allow_once']);
      expect(Object.values(done.calls).map(({ state }) => state)).toMatchObject([
        { result: { outcome: { type: 'ok' } } },
        { result: { outcome: { type: 'ok' } } },
      ]);
      // The agent replays the session's messages. The journal must not get them a second time.
      expect(wordsOf(done)).toBe('Before. After.');
      expect((await agent.prompts())[1]).toContain('Run make a: the person approved it');
    },
  );

  it('R120 a rule that demands presence and is added at the restart refuses the approved call of the agent', async () => {
    const agent = await agentProgram();
    const { acp, parked, callId } = await parkedOn(agent, steps({ ask: [command('a')] }, { say: 'Done.' }));
    await acp.stop();
    const policy = [{ action: 'presence' as const, command: 'make' }];
    const after = await startAcp(agent, acp, {}, { policy });
    const next = await after.decide(parked);
    expect(await effects(after)).toBe('');
    expect(await agent.answers()).not.toContain('a: allow_once');
    expect(next.calls[callId]?.state).toMatchObject({
      result: { outcome: { type: 'error', message: expect.stringContaining('demands presence') } },
    });
  });

  it('the agent receives the denial of its call, and continues', async () => {
    const agent = await agentProgram('no-memory');
    const { acp, parked } = await parkedOn(agent, steps({ ask: [command('a')] }, { say: 'Done.' }));
    const after = await again(acp, agent);
    const asked = await after.decide(parked, { decision: 'deny', reason: 'too early' });
    // This agent cannot load its session. So it starts a new session, and asks the person again.
    expect(pendingOf(asked)).toMatchObject([{ title: 'Run make a' }]);
    expect((await agent.prompts())[1]).toContain(
      'Run make a: The person denied this call; it was not run. Reason: too early',
    );
    expect(await effects(after)).toBe('');
  });

  it('E2 if the agent does not ask for the call again, the outcome says that nothing was done', async () => {
    const agent = await agentProgram();
    const { acp, parked, callId } = await parkedOn(agent, steps({ ask: [command('a')] }, { say: 'Done.' }));
    // The agent resumes after its permission request, as if the person had already answered.
    await agent.skipStep();
    const after = await again(acp, agent);
    const done = await after.decide(parked);
    expect(done.calls[callId]?.state).toMatchObject({
      result: {
        outcome: {
          type: 'error',
          message: expect.stringContaining('did not repeat the request. Nothing was done'),
        },
      },
    });
    expect([done.status.state, wordsOf(done), await effects(after)]).toEqual(['completed', 'Done.', '']);
  });

  it('R22 the server discards a turn that the restart interrupted, and the agent continues its session', async () => {
    const agent = await agentProgram();
    const acp = await startAcp(agent);
    const { taskId } = await acp.service.tasks.send(
      messageOf(steps({ say: 'One. ' }, { hang: 'in-first-process' }, { say: 'Two.' })),
    );
    await happens(acp, taskId, ({ type }) => type === 'text.delta');
    const after = await again(acp, agent);
    await after.service.tasks.recover();
    const done = await untilSettled(after.service.tasks, { taskId, seq: 1 });
    expect(done.status).toEqual({ state: 'completed' });
    expect(wordsOf(done)).toBe('Two.');
    expect((await agent.prompts())[1]).toMatch(/^Your work on the following task was interrupted/);
    const types = (await eventsOf(after, taskId)).map(({ type }) => type);
    expect(types.filter((type) => type === 'turn.abandoned')).toHaveLength(1);
    expect(types.filter((type) => type === 'agent.session')).toHaveLength(1);
  });

  it('an agent that cannot load its session gets the session’s conversation in its prompt', async () => {
    const agent = await agentProgram('no-memory');
    const acp = await startAcp(agent);
    const first = await acp.play({ say: 'The answer is 42.' });
    const after = await again(acp, agent);
    await after.send(messageOf(steps({ say: 'As I said.' }), { sessionId: first.sessionId }));
    expect((await agent.prompts())[1]).toContain('AGENT: The answer is 42.');
  });
});

describe('an ACP task that waits', () => {
  it('the server stops the waiting task’s agent after the idle time, and starts it again after the decision', async () => {
    const agent = await agentProgram();
    const idle = new FakeClock();
    const clock: Clock = {
      ...systemClock,
      after: (ms, act) => (ms === 1_234 ? idle : systemClock).after(ms, act),
    };
    const { acp, parked } = await parkedOn(agent, steps({ ask: [command('a')] }, { say: 'Done.' }), {
      idleMs: 1_234,
      clock,
    });
    idle.advance(1_234);
    const done = await acp.decide(parked);
    expect([done.status.state, await effects(acp)]).toEqual(['completed', 'a\n']);
    expect((await agent.prompts()).length).toBe(2);
  });

  it('if the agent asks for a second call within an approved call, the person decides about it, and the first call can finish', async () => {
    const agent = await agentProgram();
    const { acp, parked, callId } = await parkedOn(
      agent,
      steps({ nest: { outer: command('outer'), inner: command('inner') } }, { say: 'Done.' }),
    );
    const asked = await acp.decide(parked);
    expect(asked.calls[callId]?.state).toMatchObject({
      result: { outcome: { type: 'ok', summary: 'Run make outer: allowed; no result yet' } },
    });
    const [inner] = pendingOf(asked);
    expect(inner).toMatchObject({ title: 'Run make inner' });
    const done = await acp.decide(asked);
    expect([done.status.state, await effects(acp)]).toEqual(['completed', 'inner\nouter\n']);
  });

  it('X2 with the mode "accept-edits", an edit still asks the person if a link leads it outside the workspace', async () => {
    const acp = await startAcp(await agentProgram());
    const outside = await temporaryDirectory();
    await symlink(outside, join(acp.workspace, 'shared'));
    const diff = { path: join(acp.workspace, 'shared/a.txt'), oldText: null, newText: 'hello\n' };
    const parked = await acp.send(
      messageOf(steps({ ask: [{ id: 'e', kind: 'edit', title: 'Edit a.txt', diff }] }), {
        settings: { mode: 'accept-edits' },
      }),
    );
    expect(pendingOf(parked)).toMatchObject([{ preview: { type: 'diff', path: 'shared/a.txt' } }]);
  });

  it('with the mode "accept-edits", an edit of a file outside the workspace still asks the person', async () => {
    const acp = await startAcp(await agentProgram());
    const diff = { path: '/etc/motd', oldText: null, newText: 'hello\n' };
    const parked = await acp.send(
      messageOf(steps({ ask: [{ id: 'e', kind: 'edit', title: 'Edit motd', diff }] }), {
        settings: { mode: 'accept-edits' },
      }),
    );
    expect(pendingOf(parked)).toMatchObject([
      { tool: 'other', sideEffect: 'other', preview: { type: 'diff', path: '/etc/motd' } },
    ]);
    expect(await acp.service.tasks.snapshot(parked.taskId, { principal: ADA })).toEqual(parked);
  });
});
