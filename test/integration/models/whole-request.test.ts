/**
 * Compares the whole request after a turn with reasoning, tool calls and signatures, byte by byte. The file
 * `whole-request-after-calls.json` of each provider has the request that its documentation demands.
 */
import { expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { systemPrompt } from '../../../a2a-server/executor/model-turn/system-prompt.ts';
import { testTool } from '../../support/look-tool.ts';
import { modelsOf } from '../../support/model-settings.ts';
import { PROVIDERS, RecordedStage } from '../../support/recorded-provider.ts';
import { messageOf, startTaskService, sendUntilSettled } from '../../support/task-service.ts';

const on = new RecordedStage();

const readTool = testTool({
  name: 'read-file',
  description: 'Reads a file.',
  schema: z.strictObject({ path: z.string().describe('The file.') }),
  run: async ({ path }) => ({
    text: await readFile(join(on.where.workspace, path), 'utf8'),
    summary: 'read',
  }),
});

const EFFORT_AND_LENGTH = { effort: 'high', maxOutputTokens: 4_096 };
/** GPT-4.1 does not reason. */
const PARAMETERS: Readonly<Record<string, object>> = { 'openai-chat': { maxOutputTokens: 4_096 } };

const demand = z.object({ path: z.string(), body: z.record(z.string(), z.unknown()) });

it.each(PROVIDERS)(
  'the whole request to $model after reasoning, calls and signatures equals the documented one, byte by byte',
  async ({ name, model, folder, env }) => {
    const settings = {
      model,
      baseUrls: { [name]: `${on.endpoint.url}/v1` },
      modelParameters: { [model]: PARAMETERS[folder] ?? EFFORT_AND_LENGTH },
    };
    const models = modelsOf(settings, env);
    const service = await startTaskService({ ...on.where, models, tools: [readTool] });
    await on.replay(folder, 'thinking-and-parallel-calls', 'text');
    const task = await sendUntilSettled(service.tasks, messageOf('Compare a.md and b.md'));
    expect(task.status).toEqual({ state: 'completed' });
    const file = new URL(`../../recordings/${folder}/whole-request-after-calls.json`, import.meta.url);
    const { path, body } = demand.parse(JSON.parse(await readFile(file, 'utf8')));
    const instructions = systemPrompt({ root: on.where.workspace }, task);
    const demanded = JSON.stringify(body).replace('"{{instructions}}"', () => JSON.stringify(instructions));
    expect(on.endpoint.received[1]).toMatchObject({ path, text: demanded });
  },
);
