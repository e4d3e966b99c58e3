import { expect, it } from '@jest/globals';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Client, isJSONRPCRequest, type JSONRPCMessage } from '@modelcontextprotocol/client';
import { pino } from 'pino';
import { McpServerConnection, type McpToolCall } from '../../../../a2a-server/mcp-servers/connection.ts';
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
    if (method !== 'initialize') return this.deliver();
    const result = {
      protocolVersion: params?.['protocolVersion'],
      capabilities: { tools: {} },
      serverInfo: { name: 'deaf', version: '1' },
    };
    this.onmessage?.({ jsonrpc: '2.0', id, result });
  }

  protected deliver(): void {
    this.calls += 1;
    throw new MessageNotDeliveredError('nobody listens');
  }
}

/** Takes calls, and never answers them. */
class SilentTransport extends DeafTransport {
  protected override deliver(): void {
    this.calls += 1;
  }
}

async function connect(transport: McpTransport): Promise<McpServerConnection> {
  const clock = new FakeClock();
  const calls = new RunningMcpCalls(transport, clock);
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  return new McpServerConnection(
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
}

const call = (signal: AbortSignal, ask: McpToolCall['ask']): McpToolCall => ({
  toolId: 't',
  tool: 'note',
  input: {},
  principal: 'ada',
  signal,
  stopCause: () => undefined,
  idleMs: null,
  output: () => undefined,
  ask,
  answeredLate: () => undefined,
});

it('A2 an abort ends a call that was not delivered, even if its connection does not end', async () => {
  const transport = new DeafTransport();
  const connection = await connect(transport);
  const stop = new AbortController();
  const running = connection.call(
    call(stop.signal, () => Promise.resolve({ type: 'declined', reason: null })),
  );
  while (transport.calls === 0) await nextTurn();
  await nextTurn();
  stop.abort();
  await expect(running).rejects.toMatchObject({ name: 'AbortError' });
});

it('X3 a call that already has 20 open questions asks no further one until one of them is answered', async () => {
  const connection = await connect(new SilentTransport());
  const stop = new AbortController();
  const { signal } = stop;
  const answers: (() => void)[] = [];
  const running = connection.call(
    call(
      signal,
      () => new Promise((resolve) => answers.push(() => resolve({ type: 'declined', reason: null }))),
    ),
  );
  const ask = () =>
    connection.elicit({ message: 'Which?', requestedSchema: { type: 'object', properties: {} } }, signal);
  const open = Array.from({ length: 20 }, ask);
  await expect(ask()).rejects.toThrow('This call already has 20 open questions.');
  expect(answers).toHaveLength(20);
  answers[0]?.();
  expect(await open[0]).toEqual({ action: 'decline' });
  void ask();
  expect(answers).toHaveLength(21);
  stop.abort();
  await expect(running).rejects.toMatchObject({ name: 'AbortError' });
});
