/**
 * Formats the help of both programs. A person looks for a command first, so the many settings come last. At a terminal,
 * no word is split.
 */
import { type Command, Help } from 'commander';

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
