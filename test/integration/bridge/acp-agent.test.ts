/** An MCP client, the bridge, the server and an ACP agent work together, each as a process. */
import { actionOf } from '../../support/a2a-message.ts';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { agentProgram, type AgentProgram } from '../../support/acp-agent/agent-program.ts';
import { steps } from '../../support/acp-agent/step.ts';
import { stage, stageAgain, type Stage } from '../../support/stage.ts';
import { CANCEL, DECIDE, DELEGATE, startClient } from './support/bridge-stage.ts';
import { type RawClient, textOf, sessionOf } from './support/raw-client.ts';

async function bridgeTo({ server: { url, token, workspace } }: Stage): Promise<RawClient> {
  return startClient({ url, token }, { args: ['--workspace', workspace] });
}

describe('an ACP agent that the a2a-server runs', () => {
  let agent: AgentProgram;
  let at: Stage;
  let client: RawClient;

  beforeEach(async () => {
    agent = await agentProgram();
    at = await stage({ args: ['--agent', 'acp', '--', agent.command, ...agent.args] });
    client = await bridgeTo(at);
  });

  test('R20 the agent asks, the server is killed and restarts, the person approves, and the agent runs the call once', async () => {
    const call = {
      id: 'c1',
      kind: 'execute' as const,
      title: 'Run make',
      rawInput: { command: 'make all' },
      effect: 'made',
      output: ['all is made'],
    };
    const asked = await client.call(DELEGATE, {
      task: steps({ say: 'Let me see. ' }, { ask: [call] }, { say: 'It is made.' }),
    });
    expect(asked.structuredContent).toMatchObject({ state: 'input_required' });
    expect(textOf(asked)).toContain('make all');
    const sessionId = sessionOf(asked);
    const [task] = await at.peer.list();
    const { pending } = await at.peer.task(task?.taskId ?? '');
    const { callId, shown } = actionOf(pending);

    await at.server.kill();
    at = await stageAgain(at);
    await client.kill();
    client = await bridgeTo(at);
    const done = await client.call(DECIDE, {
      sessionId,
      callId,
      shown,
      decision: 'approve',
    });
    expect(textOf(done)).toContain('It is made.');
    expect(done.structuredContent).toMatchObject({ sessionId, state: 'completed' });
    expect(await at.file('effects.txt')).toBe('made\n');
    expect(await agent.answers()).toEqual(['c1: allow_once']);
  });

  test('R44 after a cancel, the waiting call does not run, and the session accepts the next task', async () => {
    const call = { id: 'c1', title: 'Do it', effect: 'done' };
    const asked = await client.call(DELEGATE, { task: steps({ ask: [call] }) });
    const sessionId = sessionOf(asked);
    await client.call(CANCEL, { sessionId });
    const next = await client.call(DELEGATE, {
      task: steps({ say: 'Something else.' }),
      sessionId,
    });
    expect(next.structuredContent).toMatchObject({ state: 'completed' });
    expect(textOf(next)).toContain('Something else.');
    expect(await at.file('effects.txt')).toBeUndefined();
  });
});
