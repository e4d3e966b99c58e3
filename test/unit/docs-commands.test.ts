/** Tests that the programs know each command and each option in the documents. */
import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { globSync } from 'tinyglobby';
import { problem, problemOf } from '../support/command-problem.ts';
import { commandsOf, readBlocks } from '../support/shell-blocks.ts';

const blocks = readBlocks();
test.each([
  ['mcp-a2a-bridge', 'taks', "unknown command 'taks'"],
  ['mcp-a2a-bridge', 'approve 4f2a --skope tool', "unknown option '--skope'"],
  ['mcp-a2a-bridge', 'server halt', 'too many arguments'],
  ['mcp-a2a-bridge', 'show', "missing required argument 'what'"],
  ['a2a-server', 'gemini --acp', "unknown option '--acp'"],
  ['a2a-server', 'token create', "required option '--name <name>'"],
  ['a2a-server', '--agent acp -- gemini --acp', ''],
] as const)('%s %s: %s', (name, line, said) => {
  const answer = problemOf(name, line.split(' '));
  expect(said === '' ? answer === '' : answer.includes(said)).toBe(true);
});

test.each(blocks.map((block) => [block.page, block.section, block] as const))(
  '%s, "%s": the programs know each command of a block',
  (_page, _section, { commands }) => {
    const wrong = commandsOf(commands).map((words) => [words.join(' '), problem(words)]);
    expect(wrong.filter(([, said]) => said !== '')).toEqual([]);
  },
);

test('the programs know each command in a sentence', () => {
  const wrong = globSync(['*.md', 'docs/**/*.md']).flatMap((page) => {
    const prose = readFileSync(page, 'utf8').replaceAll(/^ *```[^]*?^ *```$/gm, '');
    const lines = [...prose.matchAll(/`((?:mcp-a2a-bridge|a2a-server|node dist|npx -y|npm run) [^`]+)`/g)];
    const complete = lines.filter(([, line = '']) => !/(^|\s)…/.test(line));
    return complete.flatMap(([, line = '']) =>
      commandsOf(line.replaceAll(/\s+/g, ' '))
        .map((words) => [page, line, problem(words)])
        // A sentence may leave out what the reader adds.
        .filter(
          ([, , said = '']) => said !== '' && !/missing required argument|required option|'…'/.test(said),
        ),
    );
  });
  expect(wrong).toEqual([]);
});

const reasons = [...new Set(blocks.map(({ notRun }) => notRun))].map(
  (reason) => [blocks.filter(({ notRun }) => notRun === reason).length, reason] as const,
);

describe('the blocks of the documents', () => {
  test.each(reasons.filter(([, reason]) => reason !== undefined))('%s are not run: %s', (count) => {
    expect(count).toBeGreaterThan(0);
  });

  const run = blocks.filter(({ notRun }) => notRun === undefined);
  test(`${run.length} are run`, () => {
    expect(run.length).toBeGreaterThan(5);
  });

  test('the tests run most blocks of the README and of the guides', () => {
    const first = blocks.filter(({ page }) => page === 'README.md' || page === 'docs/guides.md');
    expect(first.filter(({ notRun }) => notRun === undefined).length).toBeGreaterThan(first.length / 2);
  });
});
