/**
 * The help of both programs: the command `help`, the hint at the help after an error, and the format. A person looks for
 * a command first, so the many settings come last. At a terminal, no word is split.
 */
import { Command, Help } from 'commander';

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

/** The heading of the options that are settings of the program. */
export const SETTINGS_HEADING = 'Settings:';
const OPTIONS_HEADING = 'Options:';

/** The minimum width of the column with the descriptions. */
const MIN_DESCRIPTION_WIDTH = 30;

/**
 * Returns the format of the help, for commander.
 * @param isTTY true if the help is printed at a terminal. In a pipe, each item is one line, so that `grep` shows it.
 */
export function helpFormat({ isTTY }: { isTTY: boolean }): Partial<Help> {
  // By default, commander does not wrap a column that is narrower than 40, so a narrow terminal would split words.
  return isTTY ? { formatHelp, formatItem, minWidthToWrap: 1 } : { formatHelp };
}

/** Wraps text between two words at the width of the terminal. For help that commander does not wrap itself. */
export function wrapHelpText(text: string): string {
  const { isTTY, columns } = process.stdout;
  return isTTY ? Object.assign(new Help(), { minWidthToWrap: 1 }).boxWrap(text, columns) : text;
}

/** If a long term leaves too little width in a narrow terminal, its description starts on the next line. */
function formatItem(term: string, termWidth: number, description: string, helper: Help): string {
  const width = helper.helpWidth ?? 80;
  if (description === '' || width - termWidth - 4 >= MIN_DESCRIPTION_WIDTH)
    return Help.prototype.formatItem.call(helper, term, termWidth, description, helper);
  return `  ${term}\n${helper.boxWrap(description, width - 6).replaceAll(/^/gm, '      ')}`;
}

/** Formats the help of a command: first the commands, then the options, then the settings. */
function formatHelp(command: Command, helper: Help): string {
  const sections = Help.prototype.formatHelp.call(helper, command, helper).trimEnd().split('\n\n');
  return `${sections.toSorted((one, other) => rankOf(one) - rankOf(other)).join('\n\n')}\n`;
}

function rankOf(section: string): number {
  if (section.startsWith(SETTINGS_HEADING)) return 2;
  return section.startsWith(OPTIONS_HEADING) ? 1 : 0;
}

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
