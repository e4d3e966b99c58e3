/** A model provider on loopback for one test, and models that call it. The provider closes after the test. */
import { afterEach } from '@jest/globals';
import type { Models } from '../../a2a-server/models/model.ts';
import { startFakeModelEndpoint, type FakeModelEndpoint } from './fake-model-endpoint.ts';
import type { ServerOptions } from './server-process.ts';
import { modelsOf } from './model-settings.ts';

export const FAKE_MODEL = 'openai-compatible:fake';

const open: FakeModelEndpoint[] = [];

afterEach(async () => {
  for (const endpoint of open.splice(0)) await endpoint.close();
});

export async function modelEndpoint(): Promise<FakeModelEndpoint> {
  const endpoint = await startFakeModelEndpoint();
  open.push(endpoint);
  return endpoint;
}

/** @param settings more model settings, as in the configuration file */
export function modelsAt({ url }: FakeModelEndpoint, settings: Record<string, unknown> = {}): Models {
  const baseUrls = { 'openai-compatible': `${url}/v1` };
  return modelsOf({ model: FAKE_MODEL, baseUrls, ...settings });
}

/** @returns the options of a server that uses this model */
export function serverWithModel({ url }: FakeModelEndpoint): ServerOptions {
  return { args: ['--model', FAKE_MODEL], env: { MCP_A2A_OPENAI_COMPATIBLE_URL: `${url}/v1` } };
}
