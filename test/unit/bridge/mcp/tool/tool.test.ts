import { describe, expect, test } from '@jest/globals';
import { serverInstructions } from '../../../../../bridge/mcp/server/instructions.ts';
import { APPROVAL_MODES } from '../../../../../bridge/settings/approval-mode.ts';
import { toolCallEventText } from '../../../../../bridge/sessions/session/tool-call-event-text.ts';
import { isLoopback } from '../../../../../shared/net/loopback.ts';
import { toolCallWaitMs } from '../../../../../bridge/mcp/tool/answer-tool-call.ts';
import { MODEL_TOOL_NAMES, prefixToolNames } from '../../../../../bridge/tool-names/tool-names.ts';

const INSTRUCTIONS = serverInstructions('auto');

describe('the bridge’s MCP tools', () => {
  test('the tools wait a shorter time for a client that gets no progress; a configured time applies to every client', () => {
    expect(toolCallWaitMs(undefined, true)).toBe(100_000);
    expect(toolCallWaitMs(undefined, false)).toBe(50_000);
    expect(toolCallWaitMs(300, false)).toBe(300_000);
    expect(toolCallWaitMs(0, true)).toBe(0);
  });

  test('the tools have the names that the client uses', () => {
    expect(prefixToolNames('Call wait_for_task, or wait_for_tasks.', 'g_')).toBe(
      'Call g_wait_for_task, or wait_for_tasks.',
    );
    expect(prefixToolNames(INSTRUCTIONS, '')).toBe(INSTRUCTIONS);
    expect(prefixToolNames(INSTRUCTIONS, 'g_').replaceAll('g_', '')).toBe(INSTRUCTIONS.replaceAll('g_', ''));
  });

  test('the instructions name all tools, and are shorter than 2 KB with any prefix', () => {
    for (const name of MODEL_TOOL_NAMES) expect(INSTRUCTIONS).toContain(name);
    for (const approvals of APPROVAL_MODES)
      expect(Buffer.byteLength(prefixToolNames(serverInstructions(approvals), 'x'.repeat(30)))).toBeLessThan(
        2048,
      );
  });

  test('R96 the instructions omit the tools that the bridge offers to no client', () => {
    expect(serverInstructions('human-only')).not.toContain('approve_or_deny_pending_action');
    expect(serverInstructions('human-only')).toContain('at a terminal');
  });

  test('R62 the progress names the tool, and omits its output', () => {
    const call = { callId: 'c', tool: 'run-command', title: 'Run it' };
    expect(toolCallEventText({ type: 'tool.requested', ...call, asks: true })).toBe(
      'run-command waits for approval: Run it',
    );
    expect(toolCallEventText({ type: 'tool.requested', ...call, asks: false })).toContain('run-command');
    expect(
      toolCallEventText({ type: 'tool.decided', ...call, decision: 'deny', by: 'Ada', channel: 'page' }),
    ).toBe('run-command: denied by Ada on an approval page');
    expect(toolCallEventText({ type: 'tool.started', ...call, toolId: 't' })).toBe(
      'run-command runs: Run it',
    );
    expect(
      toolCallEventText({ type: 'tool.finished', ...call, toolId: 't', outcome: 'stopped', summary: '' }),
    ).toBe('run-command: stopped');
    expect(toolCallEventText({ type: 'tool.output', ...call, toolId: 't', text: 'x' })).toBeUndefined();
  });

  test.each([
    ['localhost', true],
    ['127.0.0.1', true],
    ['127.8.9.10', true],
    ['[::1]', true],
    ['::1', true],
    ['127.0.0.1.example.com', false],
    ['example.com', false],
    ['10.0.0.1', false],
  ])('the host %s shares the files of this machine: %p', (hostname, loopback) => {
    expect(isLoopback(hostname)).toBe(loopback);
  });
});
