import { describe, expect, test } from '@jest/globals';
import { editableOf } from '../../../../../../a2a-server/page/browser/action/editable.ts';
import type { PendingAction } from '../../../../../../shared/client/index.ts';

const action = (
  input: Record<string, unknown>,
  preview: PendingAction['preview'] = { type: 'json', value: input },
): PendingAction => ({
  callId: 'c',
  tool: 't',
  title: 'T',
  input,
  preview,
  reason: 'approval',
  sideEffect: 'other',
  expiresAt: null,
  decisions: ['approve', 'deny', 'edit'],
  shown: 'h',
});

describe('the editable part of a pending action', () => {
  test('the editable part is the text to write, if the input has one', () => {
    const { text, decision } = editableOf(
      action({ path: 'a', content: 'one' }, { type: 'diff', path: 'a', diff: '+one' }),
    );
    expect(text).toBe('one');
    expect(decision('two')).toEqual({ callId: 'c', shown: 'h', decision: 'edit', content: 'two' });
  });

  test('the editable part of a command is its command line, and the rest of the input stays', () => {
    const { text, decision } = editableOf(
      action({ command: 'ls', background: true }, { type: 'command', command: 'ls', cwd: '/' }),
    );
    expect(text).toBe('ls');
    expect(decision('ls -l')).toEqual({
      callId: 'c',
      shown: 'h',
      decision: 'edit',
      input: { command: 'ls -l', background: true },
    });
  });

  test('the editable part of any other tool is the input as JSON, which must stay an object', () => {
    const { text, decision } = editableOf(action({ a: 1 }));
    expect(JSON.parse(text)).toEqual({ a: 1 });
    expect(decision('{"a":2}')).toEqual({ callId: 'c', shown: 'h', decision: 'edit', input: { a: 2 } });
    for (const wrong of ['[1]', 'null', '{']) expect(() => decision(wrong)).toThrow();
  });
});
