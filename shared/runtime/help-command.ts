/** Defines the command `help`, and the hint at the help after an error. */
import type { Command } from 'commander';
import { refuseUnknownCommand } from './refuse-unknown-command.ts';

/**
 * Adds the command `help` to the program and to each command that has commands of its own. Commander's own `help`
 * prints the help of the program if it does not know the command, and reads only one word.
 */
export function addHelpCommands(group: Command): void {
  const subcommands = [...group.commands];
  if (subcommands.length === 0) return;
  for (const each of subcommands) addHelpCommands(each);
  group
    .helpCommand(false)
    .command('help [command...]')
    .description('prints the help of a command')
    .action((names: readonly string[]) => findCommand(group, names).help());
}

function findCommand(group: Command, [name, ...rest]: readonly string[]): Command {
  if (name === undefined) return group;
  const found = group.commands.find((each) => each.name() === name);
  return found === undefined ? refuseUnknownCommand(group, name) : findCommand(found, rest);
}

/** Makes each command name its own help after a usage error. */
export function pointToOwnHelp(parent: Command, path = parent.name()): void {
  for (const command of parent.commands) {
    const name = `${path} ${command.name()}`;
    command.showHelpAfterError(`(${name} --help shows how to use it)`);
    pointToOwnHelp(command, name);
  }
}
