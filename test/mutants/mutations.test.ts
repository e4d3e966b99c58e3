import { describe, expect, it } from '@jest/globals';
import { mutated, mutationsOf } from './mutations.ts';

/** Returns each mutation of the source, as its kind and the changed source. */
function changes(source: string): string[] {
  return mutationsOf(source).map((mutation) => `${mutation.kind}: ${mutated(source, mutation)}`);
}

describe('the mutations of a source file', () => {
  it.each<[string, string[]]>([
    ['a < b;', ['statement: ;', 'comparison: a <= b;']],
    ['f(a === b || c);', ['statement: ;', 'comparison: f(a !== b || c);', 'logic: f(a === b && c);']],
    ['const a = !b;', ['logic: const a = b;']],
    ['const a = true;', ['constant: const a = false;']],
    ['const a = [0, 1, 160];', ['constant: const a = [1, 1, 160];', 'constant: const a = [0, 0, 160];']],
    ['const a = b.some(c);', ['call: const a = b.every(c);']],
    ['if (a) throw b;', ['condition: if (true) throw b;', 'condition: if (false) throw b;']],
    ['while (a) b();', ['condition: while (false) b();', 'statement: while (a) ;']],
  ])('%s', (source, expected) => expect(changes(source)).toEqual(expected));

  it('the mutations omit types, imports and texts', () => {
    expect(
      changes("import { a } from './a.ts';\ntype B = 'one' | 1;\nconst c = { 'd-e': f as 'one' };"),
    ).toEqual([]);
  });

  it('the mutations omit sentences with values in them, and log lines', () => {
    expect(
      changes(
        "const a = `there are ${n + 1} tasks`;\nconst b = c + ', ';\nthis.#log.warn({ n: n + 1 }, 'late');",
      ),
    ).toEqual([]);
    expect(changes('const a = `${n + 1}:${m}`;')).toEqual([
      'arithmetic: const a = `${n - 1}:${m}`;',
      'constant: const a = `${n + 0}:${m}`;',
    ]);
  });

  it('the mutations are at the right position after characters of several bytes', () => {
    const [second] = mutationsOf("const a = 'é🙂';\nconst b = 1;");
    expect(second).toMatchObject({ line: 2, text: '0' });
    expect(changes("const a = 'x y é🙂'; const b = 1;")).toEqual([
      "constant: const a = 'x y é🙂'; const b = 0;",
    ]);
  });
});
