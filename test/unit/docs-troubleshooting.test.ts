/** Tests that the programs still say what the page about troubleshooting quotes. */
import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { globSync } from 'tinyglobby';

/** Shorter parts of a message prove nothing. */
const LONG_ENOUGH = 8;

test('each message that docs/troubleshooting.md quotes is in the code', () => {
  const code = globSync(['a2a-server/**/*.ts', 'bridge/**/*.ts', 'shared/**/*.ts'])
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
  const quotes = [...readFileSync('docs/troubleshooting.md', 'utf8').matchAll(/^> (.+)$/gm)];
  expect(quotes.length).toBeGreaterThan(10);
  for (const [, quote = ''] of quotes) {
    const parts = quote.split('…').filter((part) => part.trim().length >= LONG_ENOUGH);
    expect(parts).not.toEqual([]);
    for (const part of parts)
      expect({ part, found: code.includes(part.trim()) }).toEqual({ part, found: true });
  }
});
