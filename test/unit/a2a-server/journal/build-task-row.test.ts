import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { taskTitle } from '../../../../a2a-server/journal/build-task-row.ts';
import { delta, message } from '../../../support/journal-samples.ts';

describe('titleFrom, which makes the title of a task', () => {
  it.each([
    ['Create test.md with hello', 'Create test.md with hello'],
    ['\n\n  \t Write it \r\nand then more', 'Write it'],
    ['   \n ', ''],
    ['', ''],
    ['x'.repeat(300), 'x'.repeat(200)],
    ['👩'.repeat(300), '👩'.repeat(200)],
    ['half a pair \uD83D and \0 nothing', 'half a pair \uFFFD and \uFFFD nothing'],
  ])('the title of %j is %j', (text, title) => {
    expect(taskTitle([message(text)])).toBe(title);
  });

  it('the title comes from the first message with text', () => {
    const data = {
      type: 'message.received' as const,
      channel: 'c',
      message: { messageId: 'm', parts: [{ type: 'data' as const, data: 1 }] },
    };
    expect(taskTitle([delta('not me'), data, message(' '), message('me'), message('nor me')])).toBe('me');
    expect(taskTitle([delta('x'), data])).toBe('');
  });

  it('the title is, for any text, one line of at most 200 whole characters that a database can store', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 0xffff }), { maxLength: 450 }), (units) => {
        const title = taskTitle([message(String.fromCharCode(...units))]);
        expect(Array.from(title).length).toBeLessThanOrEqual(200);
        expect(title).not.toMatch(/[\n\r\0\p{Surrogate}]|^\s|\s$/u);
      }),
    );
  });

  it('titleFrom is fast for a line of 10 MB', () => {
    expect(taskTitle([message('y'.repeat(10_000_000))])).toHaveLength(200);
  });
});
