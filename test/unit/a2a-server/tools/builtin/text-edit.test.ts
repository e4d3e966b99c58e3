import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  applyEdits,
  applySingleEdit,
  type TextEdit,
} from '../../../../../a2a-server/tools/builtin/text-edit.ts';
import { anyCharacter } from '../../../../support/any-character.ts';
import { numberOfRuns } from '../../../../support/property-runs.ts';

const once = (content: string, oldText: string, newText: string) =>
  applySingleEdit(content, { oldText, newText, replaceAll: false });
const all = (content: string, oldText: string, newText: string) =>
  applySingleEdit(content, { oldText, newText, replaceAll: true });

describe('applySingleEdit, which replaces a passage', () => {
  it('applySingleEdit replaces the only match of the passage', () => {
    expect(once('one two three', 'two', '2')).toEqual({
      type: 'edited',
      content: 'one 2 three',
      replaced: 1,
    });
    expect(once('one two', 'one two', '')).toMatchObject({ content: '' });
  });

  it('applySingleEdit inserts the new text unchanged, also dollar signs', () => {
    expect(once('price', 'price', "$& $1 $$ $' $`")).toMatchObject({ content: "$& $1 $$ $' $`" });
  });

  it('applySingleEdit refuses a passage that is missing, not unique, empty or unchanged, and says what to do', () => {
    expect(once('abc', 'x', 'y')).toMatchObject({ type: 'refused', message: /Read the file/ });
    expect(once('abab', 'ab', 'y')).toMatchObject({ type: 'refused', message: /replaceAll/ });
    // The two matches overlap, so the tool cannot know which one to replace.
    expect(once('aaa', 'aa', 'y')).toMatchObject({ type: 'refused', message: /replaceAll/ });
    expect(once('abc', '', 'y')).toMatchObject({ type: 'refused', message: /empty/ });
    expect(once('abc', 'b', 'b')).toMatchObject({ type: 'refused', message: /nothing to change/ });
  });

  it('applySingleEdit replaces all matches from the left', () => {
    expect(all('aaaaa', 'aa', 'b')).toEqual({ type: 'edited', content: 'bba', replaced: 2 });
    expect(all('abab', 'ab', 'aba')).toEqual({ type: 'edited', content: 'abaaba', replaced: 2 });
  });

  it('applySingleEdit writes CRLF only if every line of the file ends in CRLF', () => {
    expect(once('a\r\nb\r\nc\r\n', 'a\nb\n', 'x\ny\n')).toMatchObject({ content: 'x\r\ny\r\nc\r\n' });
    expect(once('a\r\nb\nc\r\n', 'a\nb', 'x')).toMatchObject({ type: 'refused' });
    expect(once('a\r\nb\r\n', 'b', 'x')).toMatchObject({ content: 'a\r\nx\r\n' });
    expect(once('a\r\nb\r\n', 'b', 'x\ny')).toMatchObject({ content: 'a\r\nx\r\ny\r\n' });
    expect(once('a\r\nb\n', 'b', 'x\ny')).toMatchObject({ content: 'a\r\nx\ny\n' });
    expect(once('a\r\nb\r\n', 'a\r\n', 'a\n')).toMatchObject({ content: 'a\nb\r\n' });
  });

  it('for every text that contains a passage once, applySingleEdit changes only the passage', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: anyCharacter }),
        fc.string({ unit: anyCharacter }),
        fc.string(),
        (before, after, newText) => {
          const passage = '⟦passage⟧';
          fc.pre(!(before + newText + after).includes('⟦'));
          expect(once(before + passage + after, passage, newText)).toEqual({
            type: 'edited',
            content: before + newText + after,
            replaced: 1,
          });
        },
      ),
    );
  });

  it('for every text and passage, replacing all matches equals split and join', () => {
    // Few different letters make passages occur several times and overlap.
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 40 });
    const passage = fc.string({ unit: fc.constantFrom('a', 'b', '\n'), minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(text, passage, text, (content, oldText, newText) => {
        fc.pre(oldText !== newText);
        const edited = all(content, oldText, newText);
        if (!content.includes(oldText)) expect(edited.type).toBe('refused');
        else {
          expect(edited).toEqual({
            type: 'edited',
            content: content.split(oldText).join(newText),
            replaced: content.split(oldText).length - 1,
          });
        }
        const unique = content.indexOf(oldText) === content.lastIndexOf(oldText) && content.includes(oldText);
        expect(once(content, oldText, newText).type).toBe(unique ? 'edited' : 'refused');
      }),
      { numRuns: numberOfRuns(2000) },
    );
  });
});

const edit = (oldText: string, newText: string, replaceAll = false): TextEdit => ({
  oldText,
  newText,
  replaceAll,
});

describe('applyEdits, which makes several edits', () => {
  it('applyEdits makes each edit in the result of the previous edits', () => {
    expect(
      applyEdits('a b', [edit('a', 'x'), edit('x b', 'done'), edit('done', 'd d'), edit('d', 'e', true)]),
    ).toEqual({
      type: 'edited',
      content: 'e e',
      replaced: 5,
    });
  });

  it('applyEdits refuses all edits if one edit does not match, and names that edit', () => {
    expect(applyEdits('a b', [edit('a', 'x'), edit('a', 'y'), edit('b', 'z')])).toMatchObject({
      type: 'refused',
      at: 1,
      message: /does not contain oldText/,
    });
  });

  it('applyEdits allows a text between two edits that is larger than the tool may write', () => {
    const [before, grown] = ['a\n'.repeat(3000), 'b'.repeat(1000)];
    expect(applyEdits(before, [edit('a', grown, true), edit(grown, 'c', true)])).toMatchObject({
      content: before.replaceAll('a', 'c'),
    });
  });

  it('X3 applyEdits refuses edits that would fill the memory, or replace too many passages', () => {
    const grow = edit('a', 'a'.repeat(1000), true);
    const tooLarge = expect.objectContaining({
      reason: 'TOO_LARGE',
      message: expect.stringMatching(/2 MiB/),
    });
    expect(() => applyEdits('a', [grow, grow, grow])).toThrow(tooLarge);
    expect(() => all('a'.repeat(20_000), 'a', 'a'.repeat(1000))).toThrow(tooLarge);
    const swap = [edit('a', 'b', true), edit('b', 'a', true)];
    expect(applyEdits('a'.repeat(600_000), swap)).toMatchObject({
      type: 'refused',
      at: 1,
      message: /1,000,000/,
    });
  });

  it('X3 applyEdits refuses many edits of a text that almost matches everywhere', () => {
    const almost = 'a'.repeat(2_000_000);
    const edits = Array.from({ length: 100 }, (_, index) => edit(`aa${index}`, `aa${index + 1}`));
    expect(applyEdits(`${almost}aa0`, edits)).toMatchObject({
      type: 'refused',
      at: 10,
      message: /fewer edits/,
    });
    const ordinary = 'a line of text\n'.repeat(50_000);
    expect(
      applyEdits(
        `${ordinary}0`,
        edits.map((_, index) => edit(`\n${index}`, `\n${index + 1}`)),
      ),
    ).toMatchObject({ type: 'edited' });
  });

  it('for all texts and edits, the result of applyEdits equals the edits in order, up to the first refused one', () => {
    const small = fc.string({ unit: fc.constantFrom('a', 'b', '\r', '\n'), maxLength: 12 });
    const anyEdit = fc.record({ oldText: small, newText: small, replaceAll: fc.boolean() });
    const ends = new Set<string>();
    fc.assert(
      fc.property(small, fc.array(anyEdit, { maxLength: 6 }), (content, edits) => {
        let text = content;
        const refused = edits.findIndex((each) => {
          const edited = applySingleEdit(text, each);
          if (edited.type === 'edited') text = edited.content;
          return edited.type === 'refused';
        });
        const together = applyEdits(content, edits);
        ends.add(together.type);
        if (together.type === 'refused') expect(together.at).toBe(refused);
        else expect([together.content, refused]).toEqual([text, -1]);
      }),
      { numRuns: numberOfRuns(500) },
    );
    expect(ends).toEqual(new Set(['edited', 'refused']));
  });
});
