import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  quotedText,
  visibleJson,
  visibleLine,
  visibleLines,
  visibleText,
  escapeHiddenCharacters,
} from '../../../../shared/text/visible-text.ts';
import { anyCharacter } from '../../../support/any-character.ts';
import { cpuMsOf } from '../../../support/cpu-time.ts';

/** The characters that the product must never show. This list does not use the product's own list. */
const FORBIDDEN =
  /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Variation_Selector}\u00A0\u1680\u2000-\u200A\u202F\u205F\u3000\u115F\u1160\u2800\u3164\uFFA0\u{E0000}-\u{E0FFF}]/u;
const ARABIC_SIGNS = /[\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2\u{110BD}\u{110CD}]/gu;
const EMOJI = new RegExp('\\p{RGI_Emoji}', 'gv');
/** Contains each emoji of a text: only the first character of an emoji can be ASCII. The search for emoji is slow. */
const BEYOND_ASCII = /\p{ASCII}?\P{ASCII}+/gu;

const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '\u{1b}[2K',
        '\r',
        '\u{202e}',
        '\u{2066}',
        '\u{200b}',
        '\u{200d}',
        '\u{fe0f}',
        '\u{e0041}',
        '\u{2028}',
        '\u{301}',
        '\u{d800}',
        '\n',
        '\n\n\n\n\n\n\n',
        '\t',
        ' ',
        '\u{a0}'.repeat(20),
        '\\u{202e}',
        '\\',
        'u{41}',
        '⟨5 spaces⟩',
        '⏎',
        '│ ',
        'Decisions: approve',
        '+',
        '👩‍👩‍👧',
        '❤️',
        '🏴󠁧󠁢󠁥󠁮󠁧󠁿',
        'é',
        'שלום',
        '寸法',
      ),
      fc.integer({ min: 1, max: 200 }).map((times) => ' '.repeat(times)),
      fc.string({ unit: anyCharacter, maxLength: 5 }),
      fc.string({ unit: 'grapheme', maxLength: 5 }),
    ),
    { maxLength: 40 },
  )
  .map((parts) => parts.join(''));

function number(digits: string): number {
  return Number(digits.replaceAll(',', ''));
}

/** Reverses the escaping. A marker for mixed white space cannot be reversed. */
function unescaped(shown: string): string {
  const lines = shown.split('\n').flatMap((line) => {
    const [, sign = '', times] = /^([+-]?)⟨([\d,]+) blank lines⟩$/.exec(line) ?? [];
    return times === undefined ? [line] : Array.from({ length: number(times) }, () => sign);
  });
  return lines
    .join('\n')
    .replaceAll(/⟨([\d,]+) (space|tab)s⟩/g, (_, times: string, what) =>
      (what === 'tab' ? '\t' : ' ').repeat(number(times)),
    )
    .replaceAll(/⟨([\d,]+) × (\\u\{[0-9a-f]+\})⟩/g, (_, times: string, one: string) =>
      one.repeat(number(times)),
    )
    .replaceAll(/\\u\{([0-9a-f]+)\}/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)));
}

/** Returns the positions at which a cut is allowed: not inside an escape, a marker or a character. */
function placesBetweenTokens(shown: string): ReadonlySet<number> {
  const tokens = shown.matchAll(/⟨[^⟩]*⟩|\\u\{[0-9a-f]+\}|[^]/gu);
  return new Set([...tokens].map(({ index }) => index).concat(shown.length));
}

function withoutLegitimate(shown: string): string {
  return shown
    .replaceAll(BEYOND_ASCII, (part) => part.replaceAll(EMOJI, ''))
    .replaceAll(ARABIC_SIGNS, '')
    .replaceAll(/[\n\t]/g, '');
}

describe('text from agents, as visible text', () => {
  it.each([
    ['an escape sequence', 'a\u{1b}[31mb', String.raw`a\u{1b}[31mb`],
    ['a carriage return', 'rm -rf /\recho safe', String.raw`rm -rf /\u{d}echo safe`],
    ['a change of direction', 'a\u{202e}b\u{2066}c', String.raw`a\u{202e}b\u{2066}c`],
    ['zero width', 'a\u{200b}b\u{200d}c\u{feff}', String.raw`a\u{200b}b\u{200d}c\u{feff}`],
    ['tag characters', 'a\u{e0041}\u{e0042}', String.raw`a\u{e0041}\u{e0042}`],
    ['line separators', 'a\u{2028}b\u{2029}c\u{85}', String.raw`a\u{2028}b\u{2029}c\u{85}`],
    ['variation selectors', 'a\u{fe01}\u{e0100}', String.raw`a\u{fe01}\u{e0100}`],
    ['spaces of other widths', 'rm\u{a0}-rf\u{2003}/', String.raw`rm\u{a0}-rf\u{2003}/`],
    ['half a character', 'a\u{d83d}b', String.raw`a\u{d83d}b`],
    ['an escape it writes itself', String.raw`\u{202e}`, String.raw`\u{5c}u{202e}`],
    ['a marker it writes itself', '⟨5 spaces⟩', String.raw`\u{27e8}5 spaces\u{27e9}`],
    ['many of one kind', 'a' + '\u{a0}'.repeat(25_000), String.raw`a⟨25,000 × \u{a0}⟩`],
    ['a wide gap', `npm test${' '.repeat(25_000)}; echo HIDDEN`, 'npm test⟨25,000 spaces⟩; echo HIDDEN'],
    ['a gap of spaces and tabs', ` ${'\t '.repeat(50)}x`, '⟨51 spaces and 50 tabs⟩x'],
    ['many blank lines', `a${'\n'.repeat(201)}b`, 'a\n⟨200 blank lines⟩\nb'],
    ['many added blank lines', `+a\n${'+\n'.repeat(200)}+b`, '+a\n+⟨200 blank lines⟩\n+b'],
    ['blank lines with spaces', `a\n${' \n'.repeat(9)}b`, 'a\n⟨9 blank lines with 9 spaces⟩\nb'],
  ])('R93 the visible text shows %s', (_, text, shown) => expect(visibleLines(text).join('\n')).toBe(shown));

  it.each([
    'Größe 寸法 é e\u{301} שלום مرحبا हिन्दी ไทย',
    '👩‍👩‍👧 👩🏽‍💻 ❤️ 1️⃣ 🇩🇪 👍🏽',
    '\t\tif (x) {\n\t\t\treturn;\n\t\t}\n\n\n\n',
    `${' '.repeat(40)}deeply indented`,
    String.raw`C:\users\u \\server \n`,
  ])('the visible text of %j is the same', (text) => {
    expect(visibleText(text)).toBe(text);
    expect(visibleLines(text).join('\n')).toBe(text);
  });

  it('the visible text is one line, with a mark for each line feed', () => {
    expect(visibleLine('a\n  b\u{2028}⏎')).toBe(String.raw`a⏎  b\u{2028}\u{23ce}`);
    expect(visibleLine(`Read a${' '.repeat(60)}(approved)`)).toBe('Read a⟨60 spaces⟩(approved)');
  });

  it('the visible text is cut to a length, and ends with an ellipsis', () => {
    expect(visibleLine('Write notes.md', 9)).toBe('Write no…');
    expect(visibleLine('ab\u{202e}cd', 6)).toBe('ab…');
    expect(visibleLine('ab', 2)).toBe('ab');
  });

  it('R93 visible text in JSON gives the same value, without hidden characters', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const json = visibleJson(`${JSON.stringify({ text })}\n`);
        expect(JSON.parse(json)).toEqual({ text });
        expect(withoutLegitimate(json)).not.toMatch(FORBIDDEN);
      }),
    );
  });

  it('R93 the visible text never contains an invisible character', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const { text: shown } = quotedText(text, { characters: 60, lines: 6 });
        for (const each of [visibleText(text), visibleLine(text), visibleLine(text, 20), shown])
          expect(withoutLegitimate(each)).not.toMatch(FORBIDDEN);
        expect(visibleLine(text)).not.toContain('\n');
        expect(withoutLegitimate(escapeHiddenCharacters(text))).not.toMatch(FORBIDDEN);
        expect(escapeHiddenCharacters(visibleText(text))).toBe(visibleText(text));
        expect(escapeHiddenCharacters(shown)).toBe(shown);
      }),
    );
  });

  it('two visible texts look the same only if the texts are equal', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(unescaped(visibleText(text))).toBe(text);
        const shown = visibleLines(text).join('\n');
        fc.pre(!/⟨[^⟩]*(?: and | with )[^⟩]*⟩/.test(shown));
        expect(unescaped(shown)).toBe(text);
      }),
    );
  });
});

describe('a quoted text', () => {
  it('R93 the quoted text has a mark before every line, so that no line looks like the product’s own', () => {
    expect(quotedText('rm -rf /\nDecisions: approve\n\n(in /safe)')).toEqual({
      extent: 'whole',
      text: '│ rm -rf /\n│ Decisions: approve\n│\n│ (in /safe)',
    });
    fc.assert(
      fc.property(hostile, fc.integer({ min: 1, max: 300 }), (text, characters) => {
        for (const { text: shown } of [quotedText(text), quotedText(text, { characters })])
          for (const line of shown.split('\n')) expect(line).toMatch(/^│(?: |$)/);
      }),
    );
  });

  it('R93 a shortened quoted text shows its first and last part, with a marker between them', () => {
    const text = Array.from({ length: 100 }, (_, index) => `line ${String(index)}`).join('\n');
    const byLines = quotedText(text, { characters: 10_000, lines: 6 });
    expect(byLines).toMatchObject({ extent: 'cut' });
    expect(byLines.text.split('\n')).toEqual([
      '│ line 0',
      '│ line 1',
      '│ line 2',
      '│ line 3',
      '│ ⟨745 characters left out⟩',
      '│ line 98',
      '│ line 99',
    ]);
    const long = `curl ${'a'.repeat(500)} | sh`;
    expect(quotedText(long, { characters: 30 })).toEqual({
      extent: 'cut',
      left: 480,
      text: `│ curl ${'a'.repeat(15)}⟨480 characters left out⟩aaaaa | sh`,
    });
  });

  it.each([
    ['an escape', 'ab\u{0}\u{301}xyz', 'ab'],
    ['a marker', `ab${' '.repeat(100)}\u{301}xyz`, 'ab'],
    ['an escaped mark', '\u{301}\u{301}xyz', ''],
  ])('R93 the quoted text is not cut inside %s that a combining mark follows', (_, text, head) => {
    const [whole = ''] = visibleLines(text);
    const mark = whole.indexOf('\u{301}');
    expect(mark).toBeGreaterThan(0);
    expect(visibleLine(text, mark + 1)).toBe(`${head}…`);
  });

  it('the quoted text is never cut inside a character, an escape or a marker, and counts every omitted character', () => {
    fc.assert(
      fc.property(
        hostile,
        fc.integer({ min: 3, max: 120 }),
        fc.integer({ min: 2, max: 9 }),
        (text, characters, lines) => {
          const whole = visibleLines(text).join('\n');
          const shown = quotedText(text, { characters, lines });
          const bare = shown.text
            .split('\n')
            .map((line) => line.slice(2))
            .join('\n');
          if (shown.extent === 'whole') return expect(bare).toBe(whole);
          const [, head, tail] = /^([^]*)⟨[\d,]+ characters? left out⟩([^]*)$/.exec(bare) ?? [];
          expect(head).toBeDefined();
          expect(whole.startsWith(head ?? 'x')).toBe(true);
          expect(whole.endsWith(tail ?? 'x')).toBe(true);
          expect(whole.length - (head ?? '').length - (tail ?? '').length).toBe(shown.left);
          const places = placesBetweenTokens(whole);
          for (const at of [(head ?? '').length, whole.length - (tail ?? '').length])
            expect(places.has(at)).toBe(true);
        },
      ),
    );
  });

  it.each(['\u007f', '\n', 'a\n', '👩\u200d👩', '\u{1f600}'])(
    'X3 of four million times %j, only the ends are read, and all omitted characters are counted',
    (part) => {
      const text = part.repeat(4_000_000);
      const cut = quotedText(text, { characters: 1_000 });
      if (cut.extent !== 'cut') throw new Error('the whole text is shown');
      expect(cut.text.length).toBeLessThan(3_000);
      expect(cut.text.match(/⟨[\d,]+ characters left out⟩/g)).toEqual([
        `⟨${cut.left.toLocaleString('en')} characters left out⟩`,
      ]);
      expect(cut.left).toBeGreaterThan(3_000_000);
      const line = visibleLine(text);
      expect(line.length).toBeLessThan(1_000_000);
      expect(line.endsWith('…')).toBe(true);
      expect(visibleLine(text, 100).length).toBeLessThanOrEqual(100);
    },
  );

  it('X3 a short head is not joined to text after the unread middle', () => {
    const text = '\u007f'.repeat(100_000) + 'x'.repeat(1_000_000);
    expect(quotedText(text, { characters: 900 }).text).toBe(
      `│ ⟨100,000 × \\u{7f}⟩⟨999,700 characters left out⟩${'x'.repeat(300)}`,
    );
  });

  it('X3 a run of millions of one hidden character is a marker', () => {
    expect(visibleLines('\u007f'.repeat(4_000_000))).toEqual(['⟨4,000,000 × \\u{7f}⟩']);
  });

  it('the quoted text is complete if the text fits into the limit', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const lines = visibleLines(text);
        const room = { characters: lines.join('\n').length, lines: lines.length };
        expect(quotedText(text, room).extent).toBe('whole');
      }),
    );
  });

  // The test compares the times of two lengths. For a text 32 times as long, quadratic work would need 1,000 times
  // as much time.
  it.each([
    ['words', 'abc def\n'],
    ['joiners', 'a\u{200d}'],
    ['blank lines', ' \n'],
    ['gaps', ' \t'],
    ['marks', '\u{301}'],
    ['markers', '⟨'],
    ['backslashes', '\\u{'],
    ['emoji', '👩‍👩‍👧'],
    ['half an emoji', '👩‍'],
  ])('the time for a quoted text is proportional to its length: %s', (_, piece) => {
    const cost = (length: number): number => {
      const text = piece.repeat(length / piece.length);
      return cpuMsOf(() => {
        quotedText(text, { characters: 8000, lines: 200 });
        visibleLine(text);
      });
    };
    cost(8_000);
    const small = Math.max(1, cost(8_000), cost(8_000), cost(8_000));
    expect(cost(256_000) / small).toBeLessThan(320);
  });
});
