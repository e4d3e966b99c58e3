import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { TOOL_REQUESTS } from '../../fixtures/tool-requests.ts';
import { startAgent, startClient } from './support/bridge-stage.ts';

const toolList = z.object({
  tools: z.array(z.object({ name: z.string(), inputSchema: z.record(z.string(), z.json()) })),
});

describe("the requests in a person's words", () => {
  let listed: ReadonlyMap<string, z.ZodType>;

  beforeAll(async () => {
    const client = await startClient(await startAgent());
    const { tools } = toolList.parse((await client.request('tools/list', {})).result);
    listed = new Map(tools.map(({ name, inputSchema }) => [name, z.fromJSONSchema(inputSchema)]));
  });

  test.each(TOOL_REQUESTS)('"$request" fits the listed schema of $tool', ({ tool, arguments: args }) => {
    expect(listed.get(tool)?.safeParse(args)).toMatchObject({ success: true });
  });

  test('an argument that the listed schema does not have is refused', () => {
    const [first] = TOOL_REQUESTS;
    expect(listed.get(first?.tool ?? '')?.safeParse({ ...first?.arguments, other: 1 }).success).toBe(false);
  });

  test('each listed tool is the choice for at least one request', () => {
    const chosen = new Set(TOOL_REQUESTS.map(({ tool }) => tool));
    expect([...chosen].toSorted()).toEqual([...listed.keys()].toSorted());
  });
});
