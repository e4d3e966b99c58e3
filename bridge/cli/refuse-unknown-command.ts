import { Command } from 'commander';

/**
 * Reports an unknown command and suggests similar names. A second commander program without an action does this,
 * because commander suggests names only there.
 * @param group the program, or a command with commands of its own
 */
export function refuseUnknownCommand(group: Command, args: readonly string[]): void {
  const names = new Command(group.name()).copyInheritedSettings(group);
  for (const each of group.commands) names.command(each.name());
  names.parse(args.slice(0, 1), { from: 'user' });
}
