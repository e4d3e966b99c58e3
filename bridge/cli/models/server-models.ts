/** Asks the server program which models it knows. It reads the settings as a start of the server does. */
import { execFile } from 'node:child_process';
import { z } from 'zod';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { modelReportSchema, type ModelReport } from '../../../shared/runtime/model-report.ts';
import type { BridgeSettings } from '../../settings/settings.ts';

/** In milliseconds. */
const TIMEOUT_MS = 20_000;
const MAX_OUTPUT = 4 * 1024 * 1024;

const failure = z.object({ error: z.object({ message: z.string() }) });

/**
 * @param script the built a2a-server
 * @throws ProductError CONFIGURATION if the settings are not valid
 */
export async function serverModels(
  { stateDir, configFile }: Pick<BridgeSettings, 'stateDir' | 'configFile'>,
  script: string,
): Promise<ModelReport> {
  const config = configFile === undefined ? [] : ['--config', configFile];
  const args = [script, 'models', '--state-dir', stateDir, ...config];
  const options = { timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT };
  const { stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, args, options, (_error, out, err) => resolve({ stdout: out, stderr: err }));
  });
  const output = parsed(stdout);
  const report = modelReportSchema.safeParse(output);
  if (report.success) return report.data;
  const said = failure.safeParse(output).data?.error.message ?? stderr.trim().split('\n').at(-1);
  throw new ProductError(
    'CONFIGURATION',
    said === undefined || said === ''
      ? `The server program does not list its models. Run: node ${script} models`
      : said,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
