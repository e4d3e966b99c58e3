/** Checks Node, and the program that shows desktop notifications. */
import { checkResults, type CheckResult } from '../../../shared/runtime/check-result.ts';
import { programExists } from '../../../shared/runtime/find-program.ts';
import { desktopCommand } from '../../inbox/desktop-command.ts';
import type { ClientEnvironment } from '../clients/client.ts';

/** The minimum version of Node, as in package.json. */
const MIN_NODE = [20, 19] as const;

export function checkNode(version: string): CheckResult {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  const least = MIN_NODE.join('.');
  const old = major < MIN_NODE[0] || (major === MIN_NODE[0] && minor < MIN_NODE[1]);
  return old
    ? checkResults('node').fail(
        `${version} is older than ${least}`,
        `Install Node ${least} or newer, and start the clients again.`,
      )
    : checkResults('node').ok(version);
}

export async function checkNotifications(
  environment: Pick<ClientEnvironment, 'env' | 'platform'>,
): Promise<CheckResult> {
  const results = checkResults('desktop notifications');
  const program = desktopCommand(environment.platform, '')?.program;
  if (program === undefined)
    return results.fail(
      `none on ${environment.platform}`,
      'Remove "desktopNotifications" from the settings.',
    );
  if (await programExists(program, environment)) return results.ok(`shown by ${program}`);
  return results.fail(
    `${program} is not installed`,
    'Install it; on Debian, the package libnotify-bin has it.',
  );
}
