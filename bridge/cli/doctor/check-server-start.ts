/** Asks the server program whether it can start. So `doctor` and a start always agree. */
import { fail, type ServerCheck, serverCheckSchema } from '../../../shared/runtime/check-result.ts';
import { serverOutput, settingsFlags } from '../context/server-output.ts';
import type { BridgeSettings } from '../../settings/settings.ts';

/** Longer than the server program waits for a model. In milliseconds. */
const TIMEOUT_MS = 60_000;

/** @param script the built a2a-server. @param offline sends no request to a model */
export async function checkServerStart(
  settings: Pick<BridgeSettings, 'stateDir' | 'configFile'>,
  script: string,
  offline: boolean,
): Promise<ServerCheck> {
  const args = ['check', '--json', ...(offline ? ['--offline'] : []), ...settingsFlags(settings)];
  const { json, said } = await serverOutput(script, args, TIMEOUT_MS);
  const check = serverCheckSchema.safeParse(json);
  if (check.success) return check.data;
  return {
    ok: false,
    agent: null,
    missingVariable: null,
    findings: [
      fail(
        'server settings',
        `the server program does not say whether it can start${said === '' ? '' : `: ${said}`}`,
        `Run: node ${script} check`,
      ),
    ],
  };
}
