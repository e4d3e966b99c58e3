import { expect, it } from '@jest/globals';
import { callUntilAnswered } from '../../../../a2a-server/mcp-servers/call-until-answered.ts';
import { MessageNotDeliveredError } from '../../../../a2a-server/mcp-servers/transports/server-transport.ts';

it('E1 E2 a call that was not delivered is not sent again once this server has lost the task', async () => {
  let sent = 0;
  const connection = {
    call: () => {
      sent += 1;
      return Promise.reject(new MessageNotDeliveredError('the connection was closed'));
    },
  };
  const run = {
    toolId: 'tool-1',
    principal: 'ann',
    signal: new AbortController().signal,
    idleMs: null,
    repeatable: false,
    ask: () => Promise.reject(new Error('no question')),
    output: () => undefined,
    answeredLate: () => undefined,
    stopCause: () => undefined,
    requireClaim: () => {
      if (sent === 1) throw new Error('lost');
    },
  };
  const calling = callUntilAnswered('files', () => Promise.resolve(connection), {
    tool: 'move',
    input: {},
    run,
  });
  await expect(calling).rejects.toThrow('lost');
  expect(sent).toBe(1);
});
