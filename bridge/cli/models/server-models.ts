/**
 * Reads the list of models with the command `a2a-server models`. That command reads the settings as a starting server
 * does.
 */
import { z } from 'zod';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { modelReportSchema, type ModelReport } from '../../../shared/runtime/model-report.ts';
import { runServerCommand, serverSettingsFlags } from '../context/run-server-command.ts';
import type { BridgeSettings } from '../../settings/settings.ts';

const TIMEOUT_MS = 20_000;

const failure = z.object({ error: z.object({ message: z.string() }) });

/**
 * Returns the models that a2a-server reports.
 * @param script the path of the built a2a-server
 * @throws ProductError CONFIGURATION if the settings are not valid
 */
export async function readServerModelReport(
  settings: Pick<BridgeSettings, 'stateDir' | 'configFile'>,
  script: string,
): Promise<ModelReport> {
  const { json, said } = await runServerCommand(
    script,
    ['models', ...serverSettingsFlags(settings)],
    TIMEOUT_MS,
  );
  const report = modelReportSchema.safeParse(json);
  if (report.success) return report.data;
  const message = failure.safeParse(json).data?.error.message ?? said;
  throw new ProductError(
    'CONFIGURATION',
    message === '' ? `The server program does not list its models. Run: node ${script} models` : message,
  );
}
