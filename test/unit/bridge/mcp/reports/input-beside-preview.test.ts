import { describe, expect, test } from '@jest/globals';
import { inputBesidePreview } from '../../../../../bridge/mcp/reports/input-beside-preview.ts';
import type { PendingAction } from '../../../../../shared/protocol/tool-approval.ts';

type Shown = Pick<PendingAction, 'input' | 'preview' | 'source'>;

const builtIn = { type: 'built-in' } as const;
const diff = (text: string): PendingAction['preview'] => ({ type: 'diff', path: 'a.ts', diff: text });
const beside = (input: Shown['input'], preview: Shown['preview'], source: Shown['source'] = builtIn) =>
  inputBesidePreview({ input, preview, source });

describe('the input that is shown with a preview', () => {
  const change = '--- a/a.ts\n+++ b/a.ts\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n';

  test('the input omits the fields that the preview shows', () => {
    expect(beside({ path: 'a.ts', oldText: 'one\ntwo', newText: 'one\nTWO' }, diff(change))).toEqual({});
    expect(beside({ command: 'ls' }, { type: 'command', command: 'ls', cwd: '/w' })).toEqual({});
    expect(beside({ url: 'https://a' }, { type: 'url', url: 'https://a' })).toEqual({});
    expect(beside({ a: [1] }, { type: 'json', value: { a: [1] } })).toEqual({});
  });

  test('D5 the input has all other fields that a person must see', () => {
    const command = { type: 'command', command: 'ls', cwd: '/w' } as const;
    expect(beside({ command: 'ls', env: { LD_PRELOAD: 'x' } }, command)).toEqual({
      env: { LD_PRELOAD: 'x' },
    });
    expect(beside({ a: 1, b: 2 }, { type: 'json', value: { a: 1 } })).toEqual({ a: 1, b: 2 });
    // The diff may contain a short text by chance. So the input shows the text too.
    expect(beside({ path: 'a.ts', owner: 'one' }, diff(change))).toEqual({ owner: 'one' });
    const script = 'one\nTWO\nrm -rf /';
    expect(beside({ path: 'a.ts', script }, diff(change))).toEqual({ script });
    const removal = '--- a/a.ts\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n';
    expect(beside({ script }, diff(removal))).toEqual({ script });
  });

  test('the input omits the whole text of a file if the diff shows its changes, unless another program makes the change', () => {
    const content = `${'before\n'.repeat(50)}one\nTWO\nthree\n`;
    expect(beside({ content }, diff(change))).toEqual({});
    const source = { type: 'acp-agent', agent: 'other' } as const;
    expect(beside({ content }, diff(change), source)).toEqual({ content });
    expect(beside({ content: 'one\ntwo\nthree\nfour' }, diff(change))).toEqual({
      content: 'one\ntwo\nthree\nfour',
    });
  });
});
