/** Tests that the programs know each command and each option in the documents. */
import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { globSync } from 'tinyglobby';
import { problem, problemOf } from '../support/command-problem.ts';
import { headingOf, plannedHeadings, readingsOfBlocks } from '../support/documents/planned-blocks.ts';
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

describe('the blocks of the documents', () => {
  const readings = readingsOfBlocks();

  test('test/support/documents has a reading for each block, and no other', () => {
    expect(plannedHeadings().toSorted()).toEqual(blocks.map(headingOf).toSorted());
  });

  test.each(
    readings.flatMap(([block, reading]) =>
      reading !== undefined && 'notRun' in reading ? [[headingOf(block), reading.notRun]] : [],
    ),
  )('a block of %s is not run: %s', (_heading, reason) => {
    expect(reason).toMatch(/^it \w+/);
  });

  const run = readings.filter(([, reading]) => reading !== undefined && !('notRun' in reading));
  test(`${run.length} of ${readings.length} are run`, () => {
    expect(run.length).toBeGreaterThan(readings.length * 0.75);
  });
});
