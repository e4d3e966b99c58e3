/** Builds the command line that shows a desktop notification. Pure. */
export interface DesktopCommand {
  program: string;
  args: readonly string[];
}

const TITLE = 'mcp-a2a-bridge';
const APPLE_SCRIPT =
  'on run argv\ndisplay notification (item 1 of argv) with title (item 2 of argv)\nend run';

/**
 * Returns the command for this platform. Returns undefined if there is none. The text is from agents and models. It is
 * one argument after all options, so it cannot act as an option or a command.
 */
export function desktopCommand(platform: NodeJS.Platform, text: string): DesktopCommand | undefined {
  if (platform === 'linux')
    return { program: 'notify-send', args: [`--app-name=${TITLE}`, '--', TITLE, withoutMarkup(text)] };
  if (platform === 'darwin') return { program: 'osascript', args: ['-e', APPLE_SCRIPT, '--', text, TITLE] };
  return undefined;
}

/**
 * Escapes markup. Desktop Notifications Specification, "Markup": the body of a notification may contain elements such
 * as links.
 */
function withoutMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
