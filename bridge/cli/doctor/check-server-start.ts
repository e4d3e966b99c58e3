/**
 * Checks whether a2a-server can start, with a2a-server's own command `check`. So the result is the same as at a real
 * start.
 */
import {
  failCheckResult,
  type ServerCheckReport,
  serverCheckReportSchema,
} from '../../../shared/runtime/check-result.ts';
import { runServerCommand, serverSettingsFlags } from '../context/run-server-command.ts';
import type { BridgeSettings } from '../../settings/settings.ts';

/** The time limit of the check in milliseconds. It is longer than the time that a2a-server waits for a model. */
const TIMEOUT_MS = 60_000;

/**
 * Runs the start checks of a2a-server.
 * @param script the path of the built a2a-server
 * @param offline true to send no request to a model
 */
export async function checkServerStart(
  settings: Pick<BridgeSettings, 'stateDir' | 'configFile'>,
  script: string,
  offline: boolean,
): Promise<ServerCheckReport> {
  const args = ['check', '--json', ...(offline ? ['--offline'] : []), ...serverSettingsFlags(settings)];
  const { json, said } = await runServerCommand(script, args, TIMEOUT_MS);
  const check = serverCheckReportSchema.safeParse(json);
  if (check.success) return check.data;
  return {
    ok: false,
    agent: null,
    missingVariable: null,
    findings: [
      failCheckResult(
        'server settings',
        `the server program does not say whether it can start${said === '' ? '' : `: ${said}`}`,
        `Run: node ${script} check`,
      ),
    ],
  };
}
