/** The models of a server, for tests without a server. */
import type { Models } from '../../a2a-server/models/model.ts';
import {
  MODEL_SETTINGS,
  MODEL_TABLE_SETTINGS,
  type ModelSettings,
} from '../../a2a-server/models/model-settings.ts';
import { createLazyModels } from '../../a2a-server/startup/configured-models.ts';
import { resolveSettings, withVariables } from '../../shared/settings/resolve-settings.ts';

const SETTINGS = withVariables('A2A_SERVER', { ...MODEL_SETTINGS, ...MODEL_TABLE_SETTINGS });

/** @param values as in the configuration file */
export function modelSettings(values: Record<string, unknown> = {}): ModelSettings {
  return resolveSettings(SETTINGS, { flags: {}, env: {}, file: { path: 'config.json', values } });
}

/** A failed request to a provider is not repeated. */
export function modelsOf(
  values: Record<string, unknown> = {},
  env: Record<string, string> = {},
  retryPolicy = { retries: 0, pauseMs: 0, maxPauseMs: 0 },
): Models {
  return createLazyModels(modelSettings(values), env, { retryPolicy });
}
