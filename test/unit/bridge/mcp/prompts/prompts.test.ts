import { describe, expect, test } from '@jest/globals';
import {
  delegatePromptText,
  resumePromptText,
  reviewPromptText,
} from '../../../../../bridge/mcp/prompts/prompts.ts';
import { MODEL_TOOL_NAMES } from '../../../../../bridge/tool-names/tool-names.ts';

const named = (tool: string): string => `g_${tool}`;
const AUTO = { name: named, approvals: 'auto' } as const;
const ALL = [
  delegatePromptText({ task: 'Sort it.', agent: 'team' }, named),
  delegatePromptText({ task: 'Sort it.' }, named),
  reviewPromptText({ reports: ['One waits.', 'Two waits.'], more: 0, problems: [] }, AUTO),
  reviewPromptText({ reports: ['One waits.'], more: 2, problems: ['No answer from agent "b": away'] }, AUTO),
  resumePromptText({ session: 's-1' }, named),
  resumePromptText({}, named),
];

describe('the MCP prompts', () => {
  test.each(ALL)('the prompts use the tool names of the client: %s', (text) => {
    const bare = MODEL_TOOL_NAMES.filter((name) => new RegExp(`(?<!g_)\\b${name}\\b`).test(text));
    expect(bare).toEqual([]);
    expect(MODEL_TOOL_NAMES.some((name) => text.includes(`g_${name}`))).toBe(true);
  });

  test('the prompts contain the person’s text, and leave every decision to the person', () => {
    expect(ALL[0]).toMatch(/agent "team"[\s\S]*Sort it\.$/);
    expect(ALL[0]).toContain('Do not set autoExecute');
    expect(ALL[2]).toMatch(/\n\nOne waits\.\n\nTwo waits\.$/);
    expect(ALL[2]).toContain('Decide nothing yourself');
    expect(ALL[3]).toMatch(/One waits\.\n\n2 more sessions wait: .*"input_required"[\s\S]*away$/);
    expect(ALL[4]).toContain('"s-1"');
    expect(ALL[5]).toContain('Do not delegate anything again');
  });

  test('R96 the prompts name no tool that is not offered, and say if nothing waits', () => {
    const person = reviewPromptText(
      { reports: ['One waits.'], more: 0, problems: [] },
      { name: named, approvals: 'human-only' },
    );
    expect(person).not.toContain('approve_or_deny');
    expect(person).toContain('I decide it myself');
    expect(reviewPromptText({ reports: [], more: 0, problems: [] }, AUTO)).toContain('nothing waits');
  });
});
