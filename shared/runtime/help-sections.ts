/** Orders the sections of a help text. A person looks for a command first, so the many settings come last. */
import { type Command, Help } from 'commander';

/** The heading of the options that are settings of the program. */
export const SETTINGS_HEADING = 'Settings:';
const OPTIONS_HEADING = 'Options:';

/** Formats the help of a command: first the commands, then the options, then the settings. */
export function formatHelp(command: Command, helper: Help): string {
  const sections = Help.prototype.formatHelp.call(helper, command, helper).trimEnd().split('\n\n');
  return `${sections.toSorted((one, other) => rankOf(one) - rankOf(other)).join('\n\n')}\n`;
}

function rankOf(section: string): number {
  if (section.startsWith(SETTINGS_HEADING)) return 2;
  return section.startsWith(OPTIONS_HEADING) ? 1 : 0;
}
