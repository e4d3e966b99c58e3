import { describe, expect, test } from '@jest/globals';
import { inTerminalWords } from '../../../../../bridge/cli/terminal/terminal-words.ts';
import { MODEL_TOOL_NAMES } from '../../../../../bridge/tool-names/tool-names.ts';

describe('the bridge’s sentences at a terminal', () => {
  test.each([
    ['Look with wait_for_task.', 'Look with "mcp-a2a-bridge watch".'],
    [
      'Call wait_for_task with sessionId "session-1" to go on following it.',
      'Call "mcp-a2a-bridge watch session-1" to go on following it.',
    ],
    [
      'It is not lost: call wait_for_task again with the same sessionId.',
      'It is not lost: call "mcp-a2a-bridge watch" again.',
    ],
    ['; list_all_active_sessions shows more', '; "mcp-a2a-bridge tasks" shows more'],
    ['cancel its task with cancel_running_task.', 'cancel its task with "mcp-a2a-bridge cancel".'],
    [
      'Set the right one where the MCP client starts the bridge.',
      'Set the right one in this shell and where the MCP client starts the bridge.',
    ],
    ['No tool of anybody, nor wait_for_tasks.', 'No tool of anybody, nor wait_for_tasks.'],
  ])('the sentence "%s" names commands instead of tools', (said, words) => {
    expect(inTerminalWords(said)).toBe(words);
  });

  test.each(MODEL_TOOL_NAMES)('%s is a command, or names the client’s tool as a tool', (name) => {
    expect(inTerminalWords(name)).toMatch(/^"mcp-a2a-bridge \w+( \w+)?"|in your MCP client$/);
  });
});
