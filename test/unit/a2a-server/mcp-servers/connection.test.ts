import { expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Client, isJSONRPCRequest, type JSONRPCMessage } from '@modelcontextprotocol/client';
import { pino } from 'pino';
import { McpClientConnection } from '../../../../a2a-server/mcp-servers/connection.ts';
import { RunningMcpCalls } from '../../../../a2a-server/mcp-servers/running-calls.ts';
import {
  MessageNotDeliveredError,
  type McpTransport,
} from '../../../../a2a-server/mcp-servers/transports/server-transport.ts';
import { NO_CHILD_RECORDS } from '../../../../a2a-server/processes/child-process-records.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** A transport that does the handshake, and then delivers no call and never ends. */
class DeafTransport implements McpTransport {
  readonly trouble = undefined;
  calls = 0;
  onmessage?: (message: JSONRPCMessage) => void;
  onsend?: (message: JSONRPCMessage) => void;
  readonly start = () => Promise.resolve();
  readonly close = () => Promise.resolve();

  async send(message: JSONRPCMessage): Promise<void> {
    this.onsend?.(message);
    if (!isJSONRPCRequest(message)) return;
    const { id, method, params } = message;
    if (method !== 'initialize') {
      this.calls += 1;
      throw new MessageNotDeliveredError('nobody listens');
    }
    const result = {
      protocolVersion: params?.['protocolVersion'],
      capabilities: { tools: {} },
      serverInfo: { name: 'deaf', version: '1' },
    };
    this.onmessage?.({ jsonrpc: '2.0', id, result });
  }
}

it('A2 an abort ends a call that was not delivered, even if its connection does not end', async () => {
  const transport = new DeafTransport();
  const clock = new FakeClock();
  const calls = new RunningMcpCalls(transport, clock);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  const connection = new McpClientConnection(
    { client, transport, calls },
    {
      clock,
      log: pino({ level: 'silent' }),
      graceMs: 0,
      environment: {},
      child: NO_CHILD_RECORDS.entry({ type: 'mcp-server', server: 'deaf' }),
      server: 'deaf',
      connectMs: 1_000,
      signal: new AbortController().signal,
      onListChanged: () => undefined,
      onClosed: () => undefined,
    },
  );
  const stop = new AbortController();
  const call = connection.call({
    toolId: 't',
    tool: 'note',
    input: {},
    principal: 'ada',
    signal: stop.signal,
    stopCause: () => undefined,
    idleMs: null,
    output: () => undefined,
    ask: () => Promise.resolve({ type: 'declined', reason: null }),
    answeredLate: () => undefined,
  });
  while (transport.calls === 0) await nextTurn();
  await nextTurn();
  stop.abort();
  await expect(call).rejects.toMatchObject({ name: 'AbortError' });
});
