import { expect, test } from '@jest/globals';
import { geminiDialect } from '../../../../../bridge/dialects/gemini-cli.ts';
import { CancelledMcpCalls } from '../../../../../bridge/mcp/cancelled-calls/cancelled-calls.ts';
import { executeCommandTool } from '../../../../../bridge/mcp/tools/execute-command.ts';
import { OrderedSentReplies } from '../../../../../bridge/sessions/replies-not-confirmed-by-client.ts';
import { createLogger } from '../../../../../shared/runtime/logging.ts';
import { AskingAgent } from '../../../../support/asking-agent.ts';
import { callWithFakes } from '../../../../support/call-with-fakes.ts';
import { signal } from '../../../../support/signal.ts';

const answer = (...args: Parameters<typeof executeCommandTool.answer>) => executeCommandTool.answer(...args);

test('R48 a command is not run if the client cancels the call while the bridge connects', async () => {
  const [connects, connected] = [signal(), signal()];
  const ran: unknown[] = [];
  const agent = new AskingAgent(geminiDialect);
  Object.assign(agent.connection, {
    commands: async () => [{ name: 'restore', description: '', arguments: [] }],
    execute: async (command: unknown) => ran.push(command),
  });
  let connections = 0;
  agent.reach = async () => {
    connections += 1;
    // The list of commands and the dialect need the first two connections.
    if (connections < 3) return;
    connects.happen();
    await connected.happened;
  };
  const withdrawals = new CancelledMcpCalls();
  const bridge = {
    registry: { named: () => undefined, pick: () => agent },
    rules: { approvals: 'auto' as const },
    inbox: { refresh: async () => undefined, take: async () => ({ results: [], more: 0 }) },
    defaults: {},
  };
  const offer = {
    server: { server: { getClientCapabilities: () => undefined } },
    prefix: '',
    log: createLogger({ name: 'test', level: 'silent' }),
    onCancel: 'detach' as const,
    withdrawals,
    receipts: new OrderedSentReplies(),
    bridge: async () => bridge,
  };
  const call = new AbortController();
  const incoming = {
    words: { name: 'execute_agent_command', arguments: { command: 'restore' } },
    round: undefined,
    context: { mcpReq: { id: 1, signal: call.signal } },
  };
  const answered = callWithFakes(answer, incoming, offer);
  await connects.happened;
  call.abort('user-cancel');
  connected.happen();
  await answered;
  expect(ran).toEqual([]);
  expect(withdrawals.take(String).join(' ')).toContain('Nothing was sent.');
});
