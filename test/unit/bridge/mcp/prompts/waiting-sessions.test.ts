import { expect, test } from '@jest/globals';
import { reportWaitingSessions } from '../../../../../bridge/mcp/prompts/waiting-sessions.ts';
import { ProductError } from '../../../../../shared/runtime/errors.ts';
import { AskingAgent } from '../../../../support/asking-agent.ts';

const listed = (sessionId: string, agent: string): object => ({ sessionId, agent, state: 'input-required' });

test('the review finds each session at its own agent, and one session that cannot be read hides no other', async () => {
  const session = new AskingAgent().session();
  const asked: unknown[] = [];
  const bridge = {
    registry: { named: (name?: string) => name },
    sessions: {
      list: async () => ({
        sessions: [listed('gone', 'first'), listed('session-1', 'second')],
        unreachable: [],
      }),
      find: async (id: string, { agent }: { agent?: string }) => {
        asked.push([id, agent]);
        if (id === 'gone') throw new ProductError('UNKNOWN_SESSION', 'There is no session "gone".');
        return session;
      },
    },
    rules: { approvals: 'auto' },
    program: 'bridge',
  };
  const found = await Reflect.apply(reportWaitingSessions, undefined, [bridge, undefined, String]);
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
