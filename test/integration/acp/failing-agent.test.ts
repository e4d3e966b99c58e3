/**
 * Tests an ACP agent that fails in different ways. Each time the task must name the failure, and the session must
 * stay usable.
 */
import { describe, expect, it } from '@jest/globals';
import { agentProgram, type AgentProgram } from '../../support/acp-agent/agent-program.ts';
import { steps } from '../../support/acp-agent/step.ts';
import { ADA, messageOf, decisionMessage } from '../../support/task-service.ts';
import type { AcpOptions } from '../../../a2a-server/models/acp/open-agent.ts';
import type { Snapshot } from '../../../a2a-server/task/snapshot.ts';
import { command, effects } from './steps-with-effects.ts';
import { happens, startAcp, wordsOf, type AcpService } from './acp-service.ts';

async function started(
  agent: Pick<AgentProgram, 'command' | 'args'>,
  options?: Partial<AcpOptions>,
): Promise<AcpService> {
  return startAcp(agent, undefined, options);
}

/** Returns the program of an agent that says "Hello." and answers each prompt with this result. */
function agentThatAnswers(result: string): string {
  const says =
    '{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hello."}}}';
  return `
    const results = { initialize: '{"protocolVersion":1}', 'session/new': '{"sessionId":"s"}', 'session/prompt': '${result}' };
    require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method } = JSON.parse(line);
      if (method === 'session/prompt') console.log('{"jsonrpc":"2.0","method":"session/update","params":${says}}');
      if (results[method]) console.log('{"jsonrpc":"2.0","id":' + JSON.stringify(id) + ',"result":' + results[method] + '}');
    });`;
}

function failureOf({ status }: Snapshot): string {
  if (status.state !== 'failed') throw new Error(`the task is ${JSON.stringify(status)}`);
  return status.message;
}

describe('an ACP agent that fails', () => {
  it('if an agent exits during its work, the task reports it, and the next message continues the same agent session', async () => {
    const agent = await agentProgram();
    const acp = await started(agent);
    const failed = await acp.play({ say: 'Before. ' }, { die: 3 }, { say: 'After.' });
    expect(failureOf(failed)).toMatch(
      /The agent `\S*node .*` ended with exit code 3\. .*the agent of a test has had enough.* send another message in the session/,
    );
    expect(wordsOf(failed)).toBe('Before. ');
    const done = await acp.send(messageOf(steps({ say: 'Again.' }), { sessionId: failed.sessionId }));
    expect([done.status.state, wordsOf(done)]).toEqual(['completed', 'Again.']);
    expect(failed.agentSession).not.toBeNull();
    // Null means that the journal has no new agent session. So the agent continues in the old session.
    expect(done.agentSession).toBeNull();
    expect((await agent.prompts()).at(-1)).toContain('The previous task failed');
  });

  it('if an agent exits while it runs an approved call, the task reports that the outcome is unknown', async () => {
    const acp = await started(await agentProgram());
    const parked = await acp.play({ ask: [command('a', { end: 'dies' })] });
    const failed = await acp.decide(parked);
    expect(failureOf(failed)).toContain('exit code 9');
    expect(Object.values(failed.calls)[0]?.state).toMatchObject({
      result: {
        outcome: { type: 'error', message: expect.stringContaining('whether it ran is unknown') },
      },
    });
    expect(await effects(acp)).toBe('a\n');
  });

  it('if an agent cannot be started, the error names the command', async () => {
    const acp = await started({ command: 'no-such-agent', args: ['--acp'] });
    expect(failureOf(await acp.send(messageOf('hello')))).toContain(
      'The agent `no-such-agent --acp` could not be started: there is no such program',
    );
  });

  it.each([
    ['{"stopReason":"tired"}', 'failed', /answered with an error: its stop reason is unknown: .*tired/],
    ['{}', 'failed', /answered with an error: its stop reason is unknown: \{\}/],
    ['{"stopReason":"end_turn"}', 'completed', /^$/],
  ])('if an agent ends a prompt with %s, its words stay, and the task has %s', async (result, state, why) => {
    const acp = await started({ command: process.execPath, args: ['-e', agentThatAnswers(result)] });
    const ended = await acp.send(messageOf('hello'));
    expect(ended.status.state).toBe(state);
    expect('message' in ended.status ? ended.status.message : '').toMatch(why);
    expect(wordsOf(ended)).toBe('Hello.');
  });

  it('if an agent never answers, the task stops it at the time limit', async () => {
    const acp = await started(await agentProgram('hang'), { startMs: 300 });
    expect(failureOf(await acp.send(messageOf('hello')))).toMatch(
      /The agent `\S*node .*` did not answer initialize within 0\.3 s\./,
    );
  });

  it('if an agent exits before it sends a message, the task fails and reports the exit', async () => {
    const acp = await started({
      command: process.execPath,
      args: ['-e', 'console.error("no key"); process.exit(4)'],
    });
    expect(failureOf(await acp.send(messageOf('hello')))).toMatch(
      /ended with exit code 4\. .*stderr: no key/,
    );
  });

  it('if an agent prints only invalid lines, the task fails and reports them', async () => {
    const acp = await started(await agentProgram('rubbish'));
    expect(failureOf(await acp.send(messageOf('hello')))).toMatch(/not ACP.*no message at all/);
  });

  it('if an agent prints an invalid line before its first message, the server ignores the line', async () => {
    const acp = await started(await agentProgram('banner'));
    expect(wordsOf(await acp.play({ say: 'Here.' }))).toBe('Here.');
  });

  it('if an agent sends a line of 40 MB, the server stops the agent and continues to serve other requests', async () => {
    const acp = await started(await agentProgram());
    expect(failureOf(await acp.play({ longLine: 40 }))).toContain(
      'sent a message of more than 32 MB, and the server ended it',
    );
    expect(wordsOf(await acp.play({ say: 'Another.' }))).toBe('Another.');
  });

  it('if an agent prints a hundred thousand lines that are not messages, the task fails and reports them', async () => {
    const acp = await started(await agentProgram());
    expect(failureOf(await acp.play({ rubbish: 2 }))).toContain('too much of it was not ACP');
  });

  it('if an agent answers with an error, the task fails and reports the error', async () => {
    const acp = await started(await agentProgram());
    const failed = await acp.play({ fail: 'the model is overloaded' });
    expect(failureOf(failed)).toContain('answered with an error: the model is overloaded');
    const done = await acp.send(messageOf(steps({ say: 'Now.' }), { sessionId: failed.sessionId }));
    expect(wordsOf(done)).toBe('Now.');
  });

  it.each([
    { stop: 'refusal' as const, state: 'rejected' },
    // After a cut-off answer, the task asks the agent to continue, as it asks any model.
    { stop: 'max_tokens' as const, state: 'completed' },
    { stop: 'max_turn_requests' as const, state: 'failed' },
  ])('if an agent stops with the reason $stop, the task state is "$state"', async ({ stop, state }) => {
    const acp = await started(await agentProgram());
    expect((await acp.play({ stop })).status.state).toBe(state);
  });

  it('if an agent requires a sign-in, the task waits for the person and continues after a reply', async () => {
    const agent = await agentProgram('sign-in');
    const acp = await started(agent);
    const parked = await acp.play({ say: 'Signed in.' });
    expect(parked.status).toMatchObject({
      state: 'auth-required',
      question: expect.stringContaining('A key of the test'),
    });
    await agent.signIn();
    const done = await acp.send(messageOf('I have signed in.', { taskId: parked.taskId }));
    expect([done.status.state, wordsOf(done)]).toEqual(['completed', 'Signed in.']);
  });
});

describe('a cancel of a task with an ACP agent', () => {
  it('R44 a cancel of a waiting task cancels the agent’s prompt and its permission request, and the agent can take the next prompt', async () => {
    const agent = await agentProgram();
    const acp = await started(agent);
    const parked = await acp.play({ ask: [command('a')] }, { say: 'Never.' });
    await acp.service.tasks.cancel(parked.taskId, { principal: ADA, channel: 'test' }, 'no need');
    const done = await acp.send(messageOf(steps({ say: 'Next.' }), { sessionId: parked.sessionId }));
    expect(wordsOf(done)).toBe('Next.');
    expect([await effects(acp), await agent.answers()]).toEqual(['', []]);
    expect((await agent.prompts()).length).toBe(2);
  });

  it.each(['until-cancelled', 'until-sigterm', 'deaf'] as const)(
    'A4 a cancel while the task works ends the task (%s)',
    async (hang) => {
      const acp = await started(await agentProgram());
      const { taskId, sessionId } = await acp.service.tasks.send(
        messageOf(steps({ say: 'On it.' }, { hang })),
      );
      await happens(acp, taskId, ({ type }) => type === 'text.delta');
      await acp.service.tasks.cancel(taskId, { principal: ADA, channel: 'test' }, 'enough');
      const done = await acp.send(messageOf(steps({ say: 'Next.' }), { sessionId }));
      expect(wordsOf(done)).toBe('Next.');
      expect((await acp.service.tasks.snapshot(taskId, { principal: ADA })).status.state).toBe('canceled');
    },
  );

  it('A1 an abort of one call stops that call and informs the agent, and the agent continues', async () => {
    const agent = await agentProgram();
    const acp = await started(agent);
    const parked = await acp.play(
      { ask: [command('a', { end: 'never', output: ['working'] })] },
      { say: 'The rest.' },
    );
    const { tasks } = acp.service;
    const { taskId } = parked;
    const accepted = await tasks.send(decisionMessage(parked, { decision: 'approve' }));
    const running = await happens(acp, taskId, ({ type }) => type === 'tool.output');
    if (running.type !== 'tool.output') throw new Error('no output');
    expect(await tasks.abortTool(running.toolId, { principal: ADA }, 'too slow')).toMatchObject({
      success: true,
    });
    const { signal } = new AbortController();
    for await (const _ of tasks.follow(taskId, accepted.seq, { until: 'ended', signal }));
    const done = await tasks.snapshot(taskId, { principal: ADA });
    expect([done.status.state, wordsOf(done)]).toEqual(['completed', 'The rest.']);
    expect(Object.values(done.calls)[0]?.state).toMatchObject({
      result: { outcome: { type: 'stopped', reason: 'abort-request', confirmed: true, text: 'working' } },
    });
    expect((await agent.prompts()).at(-1)).toContain('Run make a: Aborted on request: too slow');
  });
});
