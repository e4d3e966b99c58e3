import { describe, expect, it } from '@jest/globals';
import { Command } from 'commander';
import { addHelpCommands, helpFormat } from '../../../../shared/runtime/help-command.ts';
import { createBridgeCommandLine } from '../../../../bridge/cli/program.ts';
import { createCommandLine } from '../../../../a2a-server/startup/commands/command-line.ts';

/** Runs a command line of a program like those of the product: the program and the group `agents` have an action. */
function run(...words: string[]): { out: string; err: string; exitCode: number } {
  const printed = { out: '', err: '', exitCode: 0 };
  const program = new Command('bridge')
    .configureOutput({
      writeOut: (text) => (printed.out += text),
      writeErr: (text) => (printed.err += text),
    })
    .exitOverride((error) => {
      printed.exitCode = error.exitCode;
      throw error;
    })
    .action(() => undefined);
  const agents = program.command('agents').action(() => undefined);
  agents.command('remove <name>');
  program.command('approve <code>');
  addHelpCommands(program);
  expect(() => program.parse(words, { from: 'user' })).toThrow();
  return printed;
}

describe('the command `help`', () => {
  it.each([
    [['help'], 'Usage: bridge '],
    [['help', 'approve'], 'Usage: bridge approve '],
    [['help', 'agents'], 'Usage: bridge agents '],
    [['help', 'agents', 'remove'], 'Usage: bridge agents remove '],
    [['agents', 'help'], 'Usage: bridge agents '],
    [['agents', 'help', 'remove'], 'Usage: bridge agents remove '],
  ])('%j prints the help that it names', (words, usage) => {
    const { out, err, exitCode } = run(...words);
    expect({ err, exitCode }).toEqual({ err: '', exitCode: 0 });
    expect(out).toMatch(new RegExp(`^${usage}`));
  });

  it.each([
    [['help', 'aprove'], "error: unknown command 'aprove'\n(Did you mean approve?)\n"],
    [['help', 'agents', 'remov'], "error: unknown command 'remov'\n(Did you mean remove?)\n"],
    [['agents', 'help', 'bogus'], "error: unknown command 'bogus'\n"],
    [['help', 'approve', 'bogus'], "error: unknown command 'bogus'\n"],
  ])('%j names no command, so it is an error and prints no help', (words, message) =>
    expect(run(...words)).toEqual({ out: '', err: message, exitCode: 1 }),
  );

  it('after a mistake, a command of a2a-server names its own help, and its help names the shared options', () => {
    const program = createCommandLine(async () => undefined, '');
    const create = program.commands
      .find((each) => each.name() === 'token')
      ?.commands.find((each) => each.name() === 'create');
    const written: string[] = [];
    create?.configureOutput({
      writeErr: (text) => written.push(text),
      writeOut: (text) => written.push(text),
    });
    create?.exitOverride();
    expect(() => create?.parse([], { from: 'user' })).toThrow();
    expect(written.join('')).toContain('(a2a-server token create --help shows how to use it)');
    expect(() => create?.parse(['--help'], { from: 'user' })).toThrow();
    expect(written.join('')).toContain('such as --state-dir and --config, apply here too');
  });

  it('both programs have it, also for each command with commands of its own', () => {
    const places = { bridgeScript: '', serverScript: '', cardFile: '' };
    const programs = [
      createBridgeCommandLine(async () => undefined, places),
      createCommandLine(async () => undefined, ''),
    ];
    for (const program of programs) {
      const groups = [program, ...program.commands.filter(({ commands }) => commands.length > 0)];
      expect(groups.length).toBeGreaterThan(2);
      for (const group of groups) expect(group.commands.map((each) => each.name())).toContain('help');
    }
  });

  it('both programs list their commands first and their settings last', () => {
    const places = { bridgeScript: '', serverScript: '', cardFile: '' };
    const programs = [
      createBridgeCommandLine(async () => undefined, places),
      createCommandLine(async () => undefined, ''),
    ];
    for (const program of programs) {
      const help = program.helpInformation();
      expect(help.match(/^(Commands|Options|Settings):$/gm)).toEqual(['Commands:', 'Options:', 'Settings:']);
      const [, options = '', settings = ''] = help.split(/^(?:Options|Settings):$/m);
      expect(options.trim().split('\n')).toEqual([
        expect.stringMatching(/^-V, --version /),
        expect.stringMatching(/^ *-h, --help /),
      ]);
      expect(settings).toMatch(/^ +--state-dir <dir> .*\n +--config /m);
    }
  });
});

function helpText(isTTY: boolean, width: number): string {
  return new Command('program')
    .configureHelp({ ...helpFormat({ isTTY }), helpWidth: width })
    .option(`--${'a'.repeat(44)}`, 'does what a person wants, and says so in a sentence')
    .helpInformation();
}

it.each([80, 40])('at a terminal of %i columns, the help splits no word, and no row is wider', (width) => {
  const rows = helpText(true, width).split('\n');
  expect(rows.filter((row) => row.length > Math.max(width, 48))).toEqual([]);
  expect(rows.join(' ').replaceAll(/ +/g, ' ')).toContain(
    'does what a person wants, and says so in a sentence',
  );
});

it('in a pipe, a long option and its description are on one line', () => {
  expect(helpText(false, 80)).toMatch(/--a+ +does what a person wants, and says so in a sentence\n/);
});
