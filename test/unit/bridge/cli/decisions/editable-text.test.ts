import { describe, expect, it } from '@jest/globals';
import { editableTextOf } from '../../../../../bridge/cli/decisions/editable-text.ts';
import type { PendingAction, Preview } from '../../../../../shared/protocol/tool-approval.ts';
import { pendingWrite } from '../../../../support/fake-agent-task.ts';

const action = (input: Record<string, unknown>, preview: Preview): PendingAction =>
  pendingWrite('c', { input, preview });
const diff = (path: string): Preview => ({ type: 'diff', path, diff: '' });

describe('what a person edits', () => {
  it('R10 is the text that would be written, in a file of its kind', () => {
    const editable = editableTextOf(action({ path: 'a.ts', content: 'x' }, diff('a.ts')));
    expect(editable).toMatchObject({ text: 'x', extension: '.ts' });
    expect(editable.decision('y\n')).toEqual({ editedContent: 'y\n' });
    expect(editable.decision('')).toEqual({ editedContent: '' });
  });

  it('is never given an ending that a shell could read otherwise', () => {
    expect(editableTextOf(action({ content: 'x' }, diff('a.x";rm'))).extension).toBe('.txt');
  });

  it('is a command line without the line break an editor adds', () => {
    const preview: Preview = { type: 'command', command: 'ls', cwd: '/' };
    const editable = editableTextOf(action({ command: 'ls', timeout: 3 }, preview));
    expect(editable.text).toBe('ls\n');
    expect(editable.decision('ls -l\n')).toEqual({ editedInput: { command: 'ls -l', timeout: 3 } });
  });

  it('is else the input as JSON, and has to be so afterwards', () => {
    const editable = editableTextOf(action({ oldText: 'a' }, diff('a.md')));
    expect(JSON.parse(editable.text)).toEqual({ oldText: 'a' });
    expect(editable.decision('{"oldText": "b"}')).toEqual({ editedInput: { oldText: 'b' } });
    for (const wrong of ['', '[]', '"x"', '{', 'null'])
      expect(() => editable.decision(wrong)).toThrow(/Nothing was decided/);
  });
});
