/** Says what the programs would say about a command of the documents. Runs nothing. */
import type { Command } from 'commander';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { createCommandLine as serverProgram } from '../../a2a-server/startup/commands/command-line.ts';
import { flagsWithAcpAgentCommand } from '../../a2a-server/startup/settings/read-settings.ts';
import { createBridgeCommandLine as bridgeProgram } from '../../bridge/cli/program.ts';
import { programCall, type ProgramName, type ShellCommand } from './shell-blocks.ts';

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
export function problemOf(name: ProgramName, args: readonly string[]): string {
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
    const known = name === 'a2a-server' && flagsWithAcpAgentCommand(command.opts(), words) !== undefined;
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

/** Returns '' if the program, or the script of package.json, knows the command. */
export function problem(words: ShellCommand): string {
  const call = programCall(words);
  if (call !== undefined) return problemOf(call.name, call.args);
  if (words[0] === 'npm' && words[1] === 'run') {
    const script = words.slice(2).find((word) => !word.startsWith('-')) ?? '';
    return Object.hasOwn(scripts, script) ? '' : `package.json has no script ${script}`;
  }
  return '';
}
