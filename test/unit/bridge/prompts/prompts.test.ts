import { describe, expect, test } from '@jest/globals';
import { delegatePrompt, resumePrompt, reviewPrompt } from '../../../../bridge/prompts/prompts.ts';
import { TOOL_NAMES } from '../../../../bridge/tools/tool-name.ts';

const named = (tool: string): string => `g_${tool}`;
const ALL = [
  delegatePrompt({ task: 'Sort it.', agent: 'team' }, named),
  delegatePrompt({ task: 'Sort it.' }, named),
  reviewPrompt({ session: 's-1' }, named),
  reviewPrompt({}, named),
  resumePrompt({ session: 's-1' }, named),
  resumePrompt({}, named),
];

describe('the prompts', () => {
  test.each(ALL)('name the tools as the client knows them: %s', (text) => {
    const bare = TOOL_NAMES.filter((name) => new RegExp(`(?<!g_)\\b${name}\\b`).test(text));
    expect(bare).toEqual([]);
    expect(TOOL_NAMES.some((name) => text.includes(`g_${name}`))).toBe(true);
  });

  test('hand on what the person said, and leave every decision to them', () => {
    expect(ALL[0]).toMatch(/agent "team"[\s\S]*Sort it\.$/);
    expect(ALL[0]).toContain('Do not set autoExecute');
    expect(ALL[2]).toContain('"s-1"');
    expect(ALL[2]).toContain('Decide nothing yourself');
    expect(ALL[3]).toContain('"input_required"');
    expect(ALL[4]).toContain('"s-1"');
    expect(ALL[5]).toContain('Do not delegate anything again');
  });
});
