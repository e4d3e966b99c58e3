import { expect, test } from '@jest/globals';
import { reportWaitingSessions } from '../../../../../bridge/mcp/prompts/waiting-sessions.ts';
import { ProductError } from '../../../../../shared/runtime/errors.ts';
import { AskingAgent } from '../../../../support/asking-agent.ts';
import { callWithFakes } from '../../../../support/call-with-fakes.ts';

const listed = (sessionId: string, agent: string) => ({
  sessionId,
  agent,
  state: 'input-required' as const,
});

test('the review finds each session at its own agent, and one session that cannot be read hides no other', async () => {
  const session = new AskingAgent().session();
  const asked: unknown[] = [];
  const bridge = {
    sessions: {
      list: async () => ({
        sessions: [listed('gone', 'first'), listed('session-1', 'second')],
        unreachable: [],
      }),
      find: async (id: string, { agent }: { agent?: string | undefined } = {}) => {
        asked.push([id, agent]);
        if (id === 'gone') throw new ProductError('UNKNOWN_SESSION', 'There is no session "gone".');
        return session;
      },
    },
    rules: { approvals: 'auto' as const },
    program: 'bridge',
  };
  const found = await callWithFakes(reportWaitingSessions, bridge, undefined, String);
  expect(asked).toEqual([
    ['gone', 'first'],
    ['session-1', 'second'],
  ]);
  expect(found).toMatchObject({
    reports: [expect.stringContaining('session-1')],
    problems: ['Session "gone" of agent "first" could not be read: There is no session "gone".'],
  });
  session.close();
});
