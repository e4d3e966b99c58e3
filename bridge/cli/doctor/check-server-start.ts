/** Asks the server program whether it can start. So `doctor` and a start always agree. */
import { execFile } from 'node:child_process';
import { fail, type ServerCheck, serverCheckSchema } from '../../../shared/runtime/check-result.ts';
import type { BridgeSettings } from '../../settings/settings.ts';

/** Longer than the server program waits for a model. In milliseconds. */
const TIMEOUT_MS = 60_000;
const MAX_OUTPUT = 1024 * 1024;

/** @param script the built a2a-server. @param offline sends no request to a model */
export async function checkServerStart(
  { stateDir, configFile }: Pick<BridgeSettings, 'stateDir' | 'configFile'>,
  script: string,
  offline: boolean,
): Promise<ServerCheck> {
  const args = [
    script,
    'check',
    '--json',
    ...(offline ? ['--offline'] : []),
    '--state-dir',
    stateDir,
    ...(configFile === undefined ? [] : ['--config', configFile]),
  ];
  const options = { timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT };
  const { stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, args, options, (_error, out, err) => resolve({ stdout: out, stderr: err }));
  });
  try {
    return serverCheckSchema.parse(JSON.parse(stdout));
  } catch {
    const said = stderr.trim().split('\n').at(-1) ?? '';
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
}
