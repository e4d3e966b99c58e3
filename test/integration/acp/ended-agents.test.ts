/** Tests that an ACP agent whose process has ended leaves the memory of the server. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { LiveAcpAgents } from '../../../a2a-server/models/acp/live-agents.ts';
import { foldAll } from '../../../a2a-server/task/fold.ts';
import { commandEnvironment } from '../../../a2a-server/tools/shell/command-environment.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { agentProgram } from '../../support/acp-agent/agent-program.ts';
import { steps } from '../../support/acp-agent/step.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

let agents: LiveAcpAgents;
afterEach(() => agents.close());

/** Starts an agent that waits for its first prompt to be cancelled. */
async function starting() {
  agents = new LiveAcpAgents({
    agent: await agentProgram(),
    env: commandEnvironment(process.env),
    clock: systemClock,
    startMs: 30_000,
    graceMs: 100,
    idleMs: null,
    gatherMs: 0,
  });
  const task = foldAll('task-1', [
    {
      seq: 1,
      at: 0,
      event: { type: 'task.created', sessionId: 'session-1', principal: 'ann', settings: {} },
    },
    {
      seq: 2,
      at: 0,
      event: {
        type: 'message.received',
        message: {
          messageId: 'm',
          parts: [{ type: 'text', text: steps({ say: 'On it.' }, { hang: 'until-cancelled' }) }],
        },
        channel: 'test',
      },
    },
  ]);
  if (task === undefined) throw new Error('no task');
  const place = { task, earlier: [], workspace: await temporaryDirectory() };
  const used = await agents.use(place, 'turn');
  const { signal } = new AbortController();
  await used.agent.next(signal);
  const failure = () => used.agent.until(() => used.agent.failure, signal);
  return { task, place, ...used, failure };
}

describe('an ACP agent whose process has ended', () => {
  it('leaves the memory when its task ends, if no turn reads the reason', async () => {
    const { task, agent, failure, release } = await starting();
    await agent.end();
    await failure();
    release();
    expect(agents.count).toBe(1);
    agents.ended(task);
    expect(agents.count).toBe(0);
  });

  it('leaves the memory after its last use, if its task has ended before', async () => {
    const { task, agent, failure, release } = await starting();
    agents.ended(task);
    await agent.end();
    await failure();
    expect(agents.count).toBe(1);
    release();
    expect(agents.count).toBe(0);
  });

  it('leaves the memory if it ends while nobody uses it', async () => {
    const { agent, failure, release } = await starting();
    release();
    expect(agents.count).toBe(1);
    await agent.end();
    await failure();
    await new Promise(setImmediate);
    expect(agents.count).toBe(0);
  });

  it('leaves room for the next agent of the session, which stays', async () => {
    const { place, agent, release } = await starting();
    release();
    await agent.end();
    const next = await agents.use(place, 'turn');
    next.release();
    await new Promise(setImmediate);
    expect(next.agent).not.toBe(agent);
    expect(agents.count).toBe(1);
  });
});
