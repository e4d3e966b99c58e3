/** Checks whether this machine has the program that shows desktop notifications. */
import { type CheckResult, failCheckResult, okCheckResult } from '../../../shared/runtime/check-result.ts';
import { desktopCommand } from '../../inbox/desktop-command.ts';
import type { ClientEnvironment } from '../clients/client.ts';
import { programExists } from '../../../shared/runtime/find-program.ts';

const SUBJECT = 'desktop notifications';

export async function checkNotifications(
  environment: Pick<ClientEnvironment, 'env' | 'platform'>,
): Promise<CheckResult> {
  const program = desktopCommand(environment.platform, '')?.program;
  if (program === undefined)
    return failCheckResult(
      SUBJECT,
      `none on ${environment.platform}`,
      'Remove "desktopNotifications" from the settings.',
    );
  if (await programExists(program, environment)) return okCheckResult(SUBJECT, `shown by ${program}`);
  return failCheckResult(
    SUBJECT,
    `${program} is not installed`,
    'Install it; on Debian, the package libnotify-bin has it.',
  );
}
