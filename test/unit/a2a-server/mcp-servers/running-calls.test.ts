import { describe, expect, it } from '@jest/globals';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/client';
import { RunningMcpCalls, type RunningMcpCall } from '../../../../a2a-server/mcp-servers/running-calls.ts';
import type { McpTransport } from '../../../../a2a-server/mcp-servers/transports/server-transport.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** A transport whose messages the test sends. */
class FakeTransport implements McpTransport {
  readonly trouble = undefined;
  about: RequestId | undefined;
  onmessage?: (message: JSONRPCMessage) => void;
  onsend?: (message: JSONRPCMessage) => void;
  readonly start = () => Promise.resolve();
  readonly send = () => Promise.resolve();
  readonly close = () => Promise.resolve();
  readonly kept: RequestId[] = [];
  readonly keepOpen = (id: RequestId) => void this.kept.push(id);
}

const CALL: RunningMcpCall = {
  toolId: 't',
  tool: 'note',
  input: {},
  principal: 'ada',
  ask: () => Promise.resolve({ type: 'declined', reason: null }),
  onOutput: () => undefined,
  answeredLate: () => undefined,
};

function started() {
  const transport = new FakeTransport();
  const clock = new FakeClock();
  const calls = new RunningMcpCalls(transport, clock);
  const running = calls.begin(CALL);
  const params = { name: 'note', _meta: { progressToken: running.token } };
  transport.onsend?.({ jsonrpc: '2.0', id: 7, method: 'tools/call', params });
  return { transport, clock, calls, running };
}

describe('the running calls of one MCP connection', () => {
  it('002 a server counts as busy during a call, and after a stopped call until the late answer', () => {
    const { transport, calls, running } = started();
    running.stop(false);
    running.end();
    expect(calls.busy).toBe(true);
    transport.onmessage?.({ jsonrpc: '2.0', id: 7, result: { content: [] } });
    expect(calls.busy).toBe(false);
  });

  it('002 a server counts as busy for five minutes after a stopped call without an answer', () => {
    const { clock, calls, running } = started();
    running.stop(false);
    running.end();
    clock.jump(-3_600_000);
    clock.advance(5 * 60_000 - 1);
    expect(calls.busy).toBe(true);
    clock.advance(1);
    expect(calls.busy).toBe(false);
  });

  it('002 a call that is stopped between two requests leaves no request open', () => {
    const { transport, calls, running } = started();
    transport.onmessage?.({ jsonrpc: '2.0', id: 7, result: { resultType: 'input_required' } });
    running.stop(true);
    running.end();
    expect(transport.kept).toEqual([]);
    expect(calls.busy).toBe(false);
  });

  it('the stream of a question names its call, also if another request had the same id', () => {
    const { transport, calls } = started();
    transport.about = 7;
    transport.onmessage?.({ jsonrpc: '2.0', id: 1, method: 'ping' });
    expect(calls.origin()).toEqual({ calls: [CALL], known: true });
    transport.about = undefined;
    transport.onmessage?.({ jsonrpc: '2.0', id: 1, method: 'elicitation/create' });
    expect(calls.origin()).toEqual({ calls: [CALL], known: false });
  });
});
