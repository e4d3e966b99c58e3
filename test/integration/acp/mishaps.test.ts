/** What an ACP agent may do wrong, and what is made of it: a sentence that names it, and a session that can go on. */
import { describe, expect, it } from '@jest/globals';
import { agentProgram, type AgentProgram } from '../../support/acp-agent/agent-program.ts';
import { steps } from '../../support/acp-agent/step.ts';
import { ADA, decides, says } from '../../support/task-service.ts';
import type { AcpOptions } from '../../../a2a-server/models/acp/open-agent.ts';
import type { Snapshot } from '../../../a2a-server/task/snapshot.ts';
import { command, effects } from './steps-with-effects.ts';
import { happens, newHome, pendingOf, startAcp, wordsOf, type AcpService } from './acp-service.ts';

async function started(
  agent: Pick<AgentProgram, 'command' | 'args'>,
  options?: Partial<AcpOptions>,
): Promise<AcpService> {
  return startAcp(agent, await newHome(), options);
}

function failureOf({ status }: Snapshot): string {
  if (status.state !== 'failed') throw new Error(`the task is ${JSON.stringify(status)}`);
  return status.message;
}

describe('an ACP agent that goes wrong', () => {
  it('dies in the middle: the task says so, and the session goes on where it was', async () => {
    const agent = await agentProgram();
    const acp = await started(agent);
    const failed = await acp.send(says(steps({ say: 'Before. ' }, { die: 3 }, { say: 'After.' })));
    expect(failureOf(failed)).toMatch(
      /The agent `\S*node .*` ended with exit code 3\. .*the agent of a test has had enough.* Go on with the session/,
    );
    expect(wordsOf(failed)).toBe('Before. ');
    const done = await acp.send(says(steps({ say: 'Again.' }), { sessionId: failed.sessionId }));
    expect([done.status.state, wordsOf(done)]).toEqual(['completed', 'Again.']);
    expect(failed.agentSession).not.toBeNull();
    // The same session of the agent: no new one was journalled.
    expect(done.agentSession).toBeNull();
    expect((await agent.prompts()).at(-1)).toContain('The task before this one was not finished');
  });

  it('dies while it does what it may: the outcome is unknown, and said so', async () => {
    const acp = await started(await agentProgram());
    const parked = await acp.send(says(steps({ ask: [command('a', { end: 'dies' })] })));
    const [action] = pendingOf(parked);
    const failed = await acp.send(decides(parked, { callId: action?.callId ?? '', decision: 'approve' }));
    expect(failureOf(failed)).toContain('exit code 9');
    expect(Object.values(failed.calls)[0]?.state).toMatchObject({
      result: {
        outcome: { type: 'error', message: expect.stringContaining('whether it ran is unknown') },
      },
    });
    expect(await effects(acp)).toBe('a\n');
  });

  it('cannot be started: the sentence names the command', async () => {
    const acp = await started({ command: 'no-such-agent', args: ['--acp'] });
    expect(failureOf(await acp.send(says('hello')))).toContain(
      'The agent `no-such-agent --acp` could not be started: there is no such program',
    );
  });

  it('never answers: it is given up when its time is over', async () => {
    const acp = await started(await agentProgram('hang'), { startMs: 300 });
    expect(failureOf(await acp.send(says('hello')))).toMatch(
      /The agent `\S*node .*` did not answer initialize within 0\.3 s\./,
    );
  });

  it('ends before it has said anything', async () => {
    const acp = await started({
      command: process.execPath,
      args: ['-e', 'console.error("no key"); process.exit(4)'],
    });
    expect(failureOf(await acp.send(says('hello')))).toMatch(/ended with exit code 4\. .*stderr: no key/);
  });

  it('prints nothing but rubbish', async () => {
    const acp = await started(await agentProgram('rubbish'));
    expect(failureOf(await acp.send(says('hello')))).toMatch(/prints what is not ACP.*no message at all/);
  });

  it('prints a line before the first message: that is passed over', async () => {
    const acp = await started(await agentProgram('banner'));
    expect(wordsOf(await acp.send(says(steps({ say: 'Here.' }))))).toBe('Here.');
  });

  it('sends a line of 100 MB: it is ended, and the server stays as it is', async () => {
    const acp = await started(await agentProgram());
    expect(failureOf(await acp.send(says(steps({ longLine: 100 }))))).toContain(
      'sent a message of more than 32 MB, and was ended',
    );
    expect(wordsOf(await acp.send(says(steps({ say: 'Another.' }))))).toBe('Another.');
  });

  it('prints a hundred thousand lines that are no messages', async () => {
    const acp = await started(await agentProgram());
    expect(failureOf(await acp.send(says(steps({ rubbish: 2 }))))).toContain('prints what is not ACP');
  });

  it('answers with an error', async () => {
    const acp = await started(await agentProgram());
    const failed = await acp.send(says(steps({ fail: 'the model is overloaded' })));
    expect(failureOf(failed)).toContain('answered with an error: the model is overloaded');
    const done = await acp.send(says(steps({ say: 'Now.' }), { sessionId: failed.sessionId }));
    expect(wordsOf(done)).toBe('Now.');
  });

  it.each([
    { stop: 'refusal' as const, state: 'rejected' },
    // It is asked to go on, as any model whose answer was cut off.
    { stop: 'max_tokens' as const, state: 'completed' },
    { stop: 'max_turn_requests' as const, state: 'failed' },
  ])('stops over $stop: the task is $state', async ({ stop, state }) => {
    const acp = await started(await agentProgram());
    expect((await acp.send(says(steps({ stop })))).status.state).toBe(state);
  });

  it('wants a sign-in: the task waits for it, and goes on after a reply', async () => {
    const agent = await agentProgram('sign-in');
    const acp = await started(agent);
    const parked = await acp.send(says(steps({ say: 'Signed in.' })));
    expect(parked.status).toMatchObject({
      state: 'auth-required',
      question: expect.stringContaining('A key of the test'),
    });
    await agent.signIn();
    const done = await acp.send(says('I have signed in.', { taskId: parked.taskId }));
    expect([done.status.state, wordsOf(done)]).toEqual(['completed', 'Signed in.']);
  });
});

describe('cancel', () => {
  it('R44 a task that waits is cancelled: the agent is told, its request with it, and it can be used again', async () => {
    const agent = await agentProgram();
    const acp = await started(agent);
    const parked = await acp.send(says(steps({ ask: [command('a')] }, { say: 'Never.' })));
    await acp.service.tasks.cancel(parked.taskId, { principal: ADA, channel: 'test' }, 'no need');
    const done = await acp.send(says(steps({ say: 'Next.' }), { sessionId: parked.sessionId }));
    expect(wordsOf(done)).toBe('Next.');
    expect([await effects(acp), await agent.answers()]).toEqual(['', []]);
    expect((await agent.prompts()).length).toBe(2);
  });

  it.each(['until-cancelled', 'deaf'] as const)('A4 cancelled in the middle, %s', async (hang) => {
    const acp = await started(await agentProgram());
    const { taskId, sessionId } = await acp.service.tasks.send(says(steps({ say: 'On it.' }, { hang })));
    await happens(acp, taskId, ({ type }) => type === 'text.delta');
    await acp.service.tasks.cancel(taskId, { principal: ADA, channel: 'test' }, 'enough');
    const done = await acp.send(says(steps({ say: 'Next.' }), { sessionId }));
    expect(wordsOf(done)).toBe('Next.');
    expect((await acp.service.tasks.snapshot(taskId, ADA)).status.state).toBe('canceled');
  });

  it('A1 one call is aborted: the agent stops, is told what was stopped, and goes on', async () => {
    const agent = await agentProgram();
    const acp = await started(agent);
    const parked = await acp.send(
      says(steps({ ask: [command('a', { end: 'never', output: ['working'] })] }, { say: 'The rest.' })),
    );
    const [action] = pendingOf(parked);
    const { tasks } = acp.service;
    const { taskId } = parked;
    const accepted = await tasks.send(decides(parked, { callId: action?.callId ?? '', decision: 'approve' }));
    const running = await happens(acp, taskId, ({ type }) => type === 'tool.output');
    if (running.type !== 'tool.output') throw new Error('no output');
    expect(await tasks.abortTool(running.toolId, ADA, 'too slow')).toMatchObject({ success: true });
    const { signal } = new AbortController();
    for await (const _ of tasks.follow(taskId, accepted.seq, { until: 'ended', signal }));
    const done = await tasks.snapshot(taskId, ADA);
    expect([done.status.state, wordsOf(done)]).toEqual(['completed', 'The rest.']);
    expect(Object.values(done.calls)[0]?.state).toMatchObject({
      result: { outcome: { type: 'stopped', reason: 'abort-request', confirmed: true, text: 'working' } },
    });
    expect((await agent.prompts()).at(-1)).toContain('Run make a: Aborted on request: too slow');
  });
});
