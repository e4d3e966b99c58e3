import { describe, expect, it } from '@jest/globals';
import { desktopCommand } from '../../../../bridge/inbox/desktop-command.ts';

const HOSTILE = '--help <a href="http://x">&</a> "; do shell script "reboot"';

describe('the command that shows a notification', () => {
  it('X3 passes the text on as one argument after the options', () => {
    for (const platform of ['linux', 'darwin'] as const) {
      const { args } = desktopCommand(platform, HOSTILE) ?? { args: [''] };
      const end = args.indexOf('--');
      expect(end).toBeGreaterThan(0);
      expect(args.slice(0, end).join(' ')).not.toContain('reboot');
      expect(args.slice(end + 1)).toHaveLength(2);
      expect(args.slice(end + 1).join(' ')).toContain('do shell script');
    }
  });

  it('escapes the markup of a Linux notification', () => {
    const { args } = desktopCommand('linux', HOSTILE) ?? { args: [''] };
    expect(args.at(-1)).toBe('--help &lt;a href="http://x"&gt;&amp;&lt;/a&gt; "; do shell script "reboot"');
  });

  it('does not exist on Windows', () => {
    expect(desktopCommand('win32', 'text')).toBeUndefined();
  });
});
