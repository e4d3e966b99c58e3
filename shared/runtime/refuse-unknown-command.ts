import { Command } from 'commander';

/**
 * Reports an unknown command and suggests similar names. Commander suggests names only for a command without an action.
 * So this function parses the name with a second command that has no action.
 * @param group the program or the command that has no command of this name
 */
export function refuseUnknownCommand(group: Command, name: string): never {
  const names = new Command(group.name()).copyInheritedSettings(group).helpCommand(false);
  for (const each of group.commands) names.command(each.name());
  if (names.commands.length > 0) names.parse([name], { from: 'user' });
  return group.error(`error: unknown command '${name}'`);
}
