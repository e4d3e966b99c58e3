/** Tests that the programs know each command and each option in the documents. */
import { describe, expect, test } from '@jest/globals';
import type { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { globSync } from 'tinyglobby';
import { z } from 'zod';
import { program as serverProgram } from '../../a2a-server/startup/command-line.ts';
import { withAgentCommand } from '../../a2a-server/startup/read-settings.ts';
import { program as bridgeProgram } from '../../bridge/cli/program.ts';
import {
  commandsOf,
  programCall,
  readBlocks,
  type ProgramName,
  type ShellCommand,
} from '../support/shell-blocks.ts';

const blocks = readBlocks();
const scripts = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync('package.json', 'utf8'))).scripts;

function newProgram(name: ProgramName): Command {
  const places = { bridgeScript: '', serverScript: '', cardFile: '' };
  return name === 'a2a-server'
    ? serverProgram(async () => undefined, '')
    : bridgeProgram(async () => undefined, places, []);
}

/** Parses a command line as the program does, and runs nothing. Returns what the program would say about it. */
function problemOf(name: ProgramName, args: readonly string[]): string {
  const command = newProgram(name);
  let said = '';
  const mute = (each: Command): void => {
    each
      .exitOverride()
      .configureOutput({
        writeOut: () => undefined,
        writeErr: (text) => (said += text),
        outputError: (text) => (said += text),
      })
      .action(() => undefined);
    if (each.commands.length > 0) each.allowExcessArguments(each === command);
    each.commands.forEach(mute);
  };
  mute(command);
  command.action(() => {
    const words = z.array(z.string()).parse(command.args);
    const known = name === 'a2a-server' && withAgentCommand(command.opts(), words) !== undefined;
    if (words.length > 0 && !known) said += `unknown command '${words[0]}'`;
  });
  try {
    command.parse(args, { from: 'user' });
  } catch (error) {
    if (said === '' && !isHelp(error)) said = String(error);
  }
  return said;
}

function isHelp(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /help|version/.test(String(error.code));
}

function problem(words: ShellCommand): string {
  const call = programCall(words);
  if (call !== undefined) return problemOf(call.name, call.args);
  if (words[0] === 'npm' && words[1] === 'run') {
    const script = words.slice(2).find((word) => !word.startsWith('-')) ?? '';
    return Object.hasOwn(scripts, script) ? '' : `package.json has no script ${script}`;
  }
  return '';
}

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
    const lines = [...prose.matchAll(/`((?:mcp-a2a-bridge|a2a-server|node dist|npm run) [^`]+)`/g)];
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
