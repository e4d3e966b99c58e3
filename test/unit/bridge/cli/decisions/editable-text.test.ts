import { describe, expect, it } from '@jest/globals';
import { editableTextOf } from '../../../../../bridge/cli/decisions/editable-text.ts';
import type { PendingAction, Preview } from '../../../../../shared/protocol/tool-approval.ts';
import { pendingWrite } from '../../../../support/fake-agent-task.ts';

const action = (input: Record<string, unknown>, preview: Preview): PendingAction =>
  pendingWrite('c', { input, preview });
const diff = (path: string): Preview => ({ type: 'diff', path, diff: '' });

describe('the text that a person edits in an editor', () => {
  it('R10 for a write, the text is the content to write, in a file with the content’s extension', () => {
    const editable = editableTextOf(action({ path: 'a.ts', content: 'x' }, diff('a.ts')));
    expect(editable).toMatchObject({ text: 'x', extension: '.ts' });
    expect(editable.decision('y\n')).toEqual({ editedContent: 'y\n' });
    expect(editable.decision('')).toEqual({ editedContent: '' });
  });

  it('the file never has an extension with which a shell could run it', () => {
    expect(editableTextOf(action({ content: 'x' }, diff('a.x";rm'))).extension).toBe('.txt');
  });

  it('for a command, the text is the command line, without the line break that an editor adds', () => {
    const preview: Preview = { type: 'command', command: 'ls', cwd: '/' };
    const editable = editableTextOf(action({ command: 'ls', timeout: 3 }, preview));
    expect(editable.text).toBe('ls\n');
    expect(editable.decision('ls -l\n')).toEqual({ editedInput: { command: 'ls -l', timeout: 3 } });
  });

  it('for any other input, the text is JSON, and must stay JSON', () => {
    const editable = editableTextOf(action({ oldText: 'a' }, diff('a.md')));
    expect(JSON.parse(editable.text)).toEqual({ oldText: 'a' });
    expect(editable.decision('{"oldText": "b"}')).toEqual({ editedInput: { oldText: 'b' } });
    for (const wrong of ['', '[]', '"x"', '{', 'null'])
      expect(() => editable.decision(wrong)).toThrow(/Nothing was decided/);
  });
});
