import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { safeParseJson } from '../../../../../a2a-server/http/wire/json-text.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Returns the nesting depth of a parsed value, as a check of the depth that the parser counts. */
function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe('untrusted JSON', () => {
  test('X3 JSON within the depth limit parses as with JSON.parse; deeper JSON is refused', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ maxDepth: 6 }),
        fc.integer({ min: 0, max: 5 }),
        fc.boolean(),
        (value, max, spaced) => {
          const text = JSON.stringify(value, null, spaced ? 2 : 0);
          const parsed = safeParseJson(bytes(text), max);
          if (depthOf(value) > max) expect(parsed.type).toBe('too-deep');
          else expect(parsed).toEqual({ type: 'value', value: JSON.parse(text) });
        },
      ),
    );
  });

  test('X3 the parser returns a result for any bytes, and never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (input) => {
        expect(['value', 'not-json', 'too-deep']).toContain(safeParseJson(input, 8).type);
      }),
    );
  });

  test('X3 a million open brackets are refused without recursion', () => {
    expect(safeParseJson(bytes('['.repeat(1_000_000)), 64).type).toBe('too-deep');
  });

  test('X3 invalid UTF-8 is refused, even inside a string', () => {
    expect(safeParseJson(new Uint8Array([0x22, 0xc3, 0x28, 0x22]), 8)).toMatchObject({ type: 'not-json' });
  });
});
