/**
 * Creates malformed JSON from valid JSON: bytes that are changed, cut or doubled, values of other types, great depth,
 * and names with a meaning in JavaScript. Pure: the same random numbers give the same result.
 */
import type { Random } from './random.ts';

/** Values that most fields do not accept. */
const ODD: readonly [unknown, ...unknown[]] = [
  null,
  true,
  false,
  0,
  -1,
  -0.5,
  1e308,
  2 ** 53,
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\u2028',
  '😀'.repeat(500),
  'x'.repeat(70_000),
  '../../etc/passwd',
  '__proto__',
  'constructor',
  'NaN',
  [],
  [[]],
  [null],
  {},
  { __proto__: null },
  { constructor: { prototype: {} } },
  { toString: 1 },
  { length: 1e9 },
];

const NAMES: readonly [string, ...string[]] = [
  '__proto__',
  'constructor',
  'toString',
  'then',
  'toJSON',
  '',
  'id',
  'method',
  'params',
  'result',
  'error',
  '_meta',
  '$ref',
  '🙂',
];

const TEXT_CHANGES: readonly [
  (text: Buffer, random: Random) => Buffer,
  ...((text: Buffer, random: Random) => Buffer)[],
] = [
  function flipped(bytes, random) {
    const copy = Buffer.from(bytes);
    const times = random.between(1, 4);
    for (let time = 0; time < times; time += 1)
      copy[random.between(0, copy.length - 1)] = random.between(0, 255);
    return copy;
  },
  (bytes, random) => bytes.subarray(0, random.between(0, bytes.length - 1)),
  (bytes, random) => bytes.subarray(random.between(1, bytes.length)),
  (bytes) => Buffer.concat([bytes, bytes]),
  (bytes, random) => {
    const at = random.between(0, bytes.length);
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(random.between(0, at))]);
  },
  (bytes, random) => {
    const depth = random.between(100, 50_000);
    return Buffer.concat([Buffer.from('['.repeat(depth)), bytes, Buffer.from(']'.repeat(depth))]);
  },
  (bytes, random) => Buffer.concat([Buffer.from('{"a":'.repeat(random.between(100, 50_000))), bytes]),
  (bytes) => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]),
  (bytes) => Buffer.from(bytes.toString('utf8'), 'utf16le'),
  (bytes) => Buffer.concat([bytes, Buffer.from([0xff, 0xfe, 0xc0, 0x80])]),
  () => Buffer.from('null'),
  () => Buffer.from('[]'),
  () => Buffer.from('1e999'),
  () => Buffer.alloc(0),
  (_, random) => Buffer.alloc(random.between(1, 100_000), 'A'),
  (_, random) => Buffer.from(Array.from({ length: random.between(1, 300) }, () => random.between(0, 255))),
];

/** Makes a value malformed: a part is missing, misplaced, added, too deep or of another type. */
export function malformedValue(good: unknown, random: Random): unknown {
  let value = structuredClone(good);
  const changes = random.between(1, 3);
  for (let change = 0; change < changes; change += 1) value = changed(value, random);
  return value;
}

/** The malformed text of a value. The bytes may be invalid UTF-8. */
export function malformedText(good: unknown, random: Random): Buffer {
  const value = random.chance(0.5) ? malformedValue(good, random) : good;
  const bytes = Buffer.from(JSON.stringify(value) ?? 'undefined');
  return bytes.length === 0 ? bytes : random.pick(TEXT_CHANGES)(bytes, random);
}

/** Changes one place of the value, at a random depth. */
function changed(value: unknown, random: Random): unknown {
  if (Array.isArray(value)) {
    const items: unknown[] = value;
    if (items.length === 0 || random.chance(0.2)) return [...items, random.pick(ODD)];
    const at = random.between(0, items.length - 1);
    return items.with(at, changed(items[at], random));
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value);
    if (entries.length === 0 || random.chance(0.2))
      return fromEntries([...entries, [random.pick(NAMES), random.pick(ODD)]]);
    const at = random.between(0, entries.length - 1);
    if (random.chance(0.15)) return fromEntries(entries.toSpliced(at, 1));
    return fromEntries(
      entries.map(([key, below], index) => [
        index === at && random.chance(0.1) ? random.pick(NAMES) : key,
        index === at ? changed(below, random) : below,
      ]),
    );
  }
  return random.pick(ODD);
}

/** Creates `__proto__` as an own field, as a JSON parser does. */
function fromEntries(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const [key, value] of entries)
    Object.defineProperty(made, key, { value, enumerable: true, configurable: true, writable: true });
  return made;
}
