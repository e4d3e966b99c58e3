/** The options of a server with a priced model (Anthropic's wire format), on a provider that the test scripts. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Reply } from './fake-model-endpoint.ts';
import { modelEndpoint } from './model-stage.ts';
import { NOON_CLOCK } from './noon-clock.ts';
import type { ServerOptions } from './server-process.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export const PRICED_MODEL = 'anthropic:claude-sonnet-4-5';
/** A model without a price, of the same provider. A server offers it if its settings name it. */
export const UNPRICED_MODEL = 'openai-compatible:own';

/**
 * A thousand input tokens cost 0.30 US dollars, or 0.03 from the cache and 0.375 into it. A thousand output tokens cost
 * 1.50 US dollars. The server's clock shows noon, so that all requests of a test are on one UTC day.
 * @param more settings of the server
 */
export async function pricedServer(
  more: object = {},
): Promise<{ options: ServerOptions; script: (...replies: Reply[]) => void }> {
  const endpoint = await modelEndpoint();
  const home = { stateDir: await temporaryDirectory(), workspace: await temporaryDirectory() };
  const server = {
    model: PRICED_MODEL,
    baseUrls: { anthropic: endpoint.url },
    prices: { [PRICED_MODEL]: { input: 300, output: 1_500, cachedInput: 30, cacheWrite: 375 } },
    ...more,
  };
  await writeFile(join(home.stateDir, 'config.json'), JSON.stringify({ server }));
  const env = {
    ...NOON_CLOCK,
    ANTHROPIC_API_KEY: 'key',
    MCP_A2A_OPENAI_COMPATIBLE_URL: `${endpoint.url}/v1`,
  };
  return { options: { home, env }, script: (...replies) => endpoint.script(...replies) };
}

/** The call of a tool, with 1000 plain input tokens, 400 tokens into the cache, and 100 output tokens. */
export const PRICED_CALL: Reply = {
  type: 'turn',
  turn: {
    calls: [{ id: 'c1', name: 'list-files', arguments: '{}' }],
    inputTokens: 1_000,
    outputTokens: 100,
    cacheWriteTokens: 400,
  },
};

/** An answer of 1000 plain input tokens and 100 output tokens. */
export function pricedAnswer(text: string, tokens: object = {}): Reply {
  return { type: 'turn', turn: { text: [text], inputTokens: 1_000, outputTokens: 100, ...tokens } };
}
