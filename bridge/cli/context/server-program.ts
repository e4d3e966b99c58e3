/** Runs commands of a2a-server. That program reads the settings as a starting server does. */
import { execFile } from 'node:child_process';
import { z } from 'zod';
import {
  checkResults,
  type ServerCheckReport,
  serverCheckReportSchema,
} from '../../../shared/runtime/check-result.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { modelReportSchema, type ModelReport } from '../../../shared/runtime/model-report.ts';
import { parseJson } from '../../../shared/text/parse-json.ts';
import type { BridgeSettings } from '../../settings/settings.ts';

export type ServerSettingsLocation = Pick<BridgeSettings, 'stateDir' | 'configFile'>;

/** The time limit of the check in milliseconds. It is longer than the time that a2a-server waits for a model. */
const CHECK_TIMEOUT_MS = 60_000;
const MODELS_TIMEOUT_MS = 20_000;
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;

const failure = z.object({ error: z.object({ message: z.string() }) });

/**
 * Checks whether a2a-server can start, with its own command `check`.
 * @param script the path of the built a2a-server
 * @param offline true to send no request to a model
 */
export async function checkServerStart(
  settings: ServerSettingsLocation,
  script: string,
  offline: boolean,
): Promise<ServerCheckReport> {
  const args = ['check', '--json', ...(offline ? ['--offline'] : []), ...serverSettingsFlags(settings)];
  const { json, said } = await runServerCommand(script, args, CHECK_TIMEOUT_MS);
  const check = serverCheckReportSchema.safeParse(json);
  if (check.success) return check.data;
  const finding = checkResults('server settings').fail(
    `the server program does not say whether it can start${said === '' ? '' : `: ${said}`}`,
    `Run: node ${script} check`,
  );
  return { ok: false, agent: null, missingVariable: null, findings: [finding] };
}

/**
 * Returns the models that a2a-server reports.
 * @param script the path of the built a2a-server
 * @throws ProductError CONFIGURATION if the settings are not valid
 */
export async function readServerModelReport(
  settings: ServerSettingsLocation,
  script: string,
): Promise<ModelReport> {
  const args = ['models', ...serverSettingsFlags(settings)];
  const { json, said } = await runServerCommand(script, args, MODELS_TIMEOUT_MS);
  const report = modelReportSchema.safeParse(json);
  if (report.success) return report.data;
  const message = failure.safeParse(json).data?.error.message ?? said;
  throw new ProductError(
    'CONFIGURATION',
    message === '' ? `The server program does not list its models. Run: node ${script} models` : message,
  );
}

interface ParsedServerOutput {
  /** The parsed standard output. Undefined if it is no JSON. */
  json: unknown;
  /** The last line of the standard error, or the reason why the program was killed. */
  said: string;
}

/**
 * Runs a command of a2a-server and parses its output.
 * @param timeoutMs the time limit in milliseconds, after which the process is killed
 */
export async function runServerCommand(
  script: string,
  args: readonly string[],
  timeoutMs: number,
): Promise<ParsedServerOutput> {
  const options = { timeout: timeoutMs, maxBuffer: MAX_OUTPUT_BYTES };
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], options, (error, stdout, stderr) => {
      const tooLate = error?.killed === true && error.code !== 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER';
      const said = tooLate
        ? `The server program did not answer within ${String(timeoutMs / 1_000)} s. Try again when the machine is less busy.`
        : (stderr.trim().split('\n').at(-1) ?? '');
      resolve({ json: parseJson(stdout), said });
    });
  });
}

/** Returns the flags with which a2a-server reads the same settings as the bridge. */
export function serverSettingsFlags({ stateDir, configFile }: ServerSettingsLocation): string[] {
  return ['--state-dir', stateDir, ...(configFile === undefined ? [] : ['--config', configFile])];
}
