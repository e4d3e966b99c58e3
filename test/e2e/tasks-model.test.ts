/** Runs jobs of `npm run tasks` with a model behind an endpoint for chat completions, on the built server. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import {
  startFakeModelEndpoint,
  type FakeModelEndpoint,
  type Received,
  type Reply,
  type ScriptedTurn,
} from '../support/fake-model-endpoint.ts';
import { readReport, runJobs } from '../support/jobs-program.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const MODEL = 'openai-compatible:fake';

/** The fields of a chat completions request that the test's model reads. */
const request = z.object({
  model: z.literal('fake'),
  stream: z.literal(true),
  // Without this field, the API reports no tokens.
  stream_options: z.object({ include_usage: z.literal(true) }),
  messages: z
    .array(
      z.object({
        role: z.enum(['system', 'user', 'assistant', 'tool']),
        content: z.string().nullish(),
        tool_calls: z.array(z.object({ id: z.string() })).optional(),
        tool_call_id: z.string().optional(),
      }),
    )
    .refine((messages) => {
      const calls = messages.flatMap(({ tool_calls }) => tool_calls ?? []).map(({ id }) => id);
      return isDeepStrictEqual(
        calls,
        messages.flatMap(({ tool_call_id }) => tool_call_id ?? []),
      );
    }, 'Each tool call needs one tool message.'),
  tools: z.array(z.object({ type: z.literal('function'), function: z.object({ name: z.string() }) })),
});
type Request = z.infer<typeof request>;

describe('npm run tasks with the model of an endpoint', () => {
  let endpoint: FakeModelEndpoint;
  let run: (...args: string[]) => ReturnType<typeof runJobs>;

  beforeEach(async () => {
    endpoint = await startFakeModelEndpoint();
    const prices = join(await temporaryDirectory(), 'prices.json');
    await writeFile(prices, JSON.stringify({ server: { prices: { [MODEL]: { input: 10, output: 100 } } } }));
    const env = {
      MCP_A2A_OPENAI_COMPATIBLE_URL: `${endpoint.url}/v1`,
      MCP_A2A_OPENAI_COMPATIBLE_API_KEY: 'key',
    };
    const jobs = ['--only', 'first-file', 'answer-from-code'];
    run = (...args) => runJobs([...jobs, '--model', MODEL, `--server-arg=--config=${prices}`, ...args], env);
  });
  afterEach(() => endpoint.close());

  it('the model gets each job as text, and the report has success, turns, tokens, cost and time', async () => {
    endpoint.otherwise(answeredBy(worker));
    const { code, ...output } = await run('--json');
    const { model, results } = readReport({ code, ...output });
    expect(model).toBe(MODEL);
    const done = {
      state: 'completed',
      wrong: [],
      turns: 2,
      inputTokens: 2_200,
      outputTokens: 50,
      usd: 0.027,
    };
    expect(results).toEqual([
      { ...done, id: 'first-file', decisions: 1, calls: 1, durationMs: expect.any(Number) },
      { ...done, id: 'answer-from-code', decisions: 0, calls: 1, durationMs: expect.any(Number) },
    ]);
    expect(code).toBe(0);
    expect(endpoint.received.map(({ path, headers }) => [path, headers['authorization']])).toEqual(
      Array.from({ length: 4 }, () => ['/v1/chat/completions', 'Bearer key']),
    );
  });

  it('if the model only claims that a job is done, the job is "not done", and the table says so', async () => {
    endpoint.otherwise(
      answeredBy((body) =>
        taskOf(body).includes('test.md') ? turn({ text: ['Created test.md.'] }) : worker(body),
      ),
    );
    const { code, stdout } = await run();
    expect(code).toBe(1);
    const [head, ...rows] = stdout.split('\n');
    expect(head).toMatch(/^job +asked +turns +calls +tokens +US\$ +minutes$/);
    expect(rows[0]).toMatch(/^first-file +not done +0 +1 +0 +1020 +0\.0120 +\d+\.\d$/);
    expect(rows[1]).toMatch(/^answer-from-code +done +0 +2 +1 +2250 +0\.0270 +\d+\.\d$/);
    expect(stdout).toContain(`${MODEL} did 1 of 2 jobs:\n  first-file: there is no test.md\n`);
  });
});

/** Simulates a model that calls the tool that the job needs, and then reads the tool's result. */
function worker(body: Request): Reply {
  const last = { inputTokens: 1_200, outputTokens: 30 };
  const result = body.messages.findLast(({ role }) => role === 'tool')?.content;
  if (taskOf(body).includes('test.md'))
    return result === undefined
      ? call('write-file', { path: 'test.md', content: 'hello' })
      : turn({ text: ['Created test.md.'], ...last });
  if (result === undefined) return call('read-file', { path: 'server.js' });
  const mayWrite = body.tools.some(({ function: { name } }) => name === 'write-file');
  const seen = result?.includes('3000 + 11') === true && !mayWrite;
  return turn({ text: [seen ? 'On port 3011.' : 'Unknown.'], ...last });
}

/** Answers an invalid request with 400, as the API does. */
function answeredBy(model: (body: Request) => Reply): (received: Received) => Reply {
  return ({ body }) => {
    const { data, error } = request.safeParse(body);
    return data === undefined ? refusal(z.prettifyError(error)) : model(data);
  };
}

function refusal(message: string): Reply {
  return { type: 'status', status: 400, body: { error: { message, type: 'invalid_request_error' } } };
}

function taskOf({ messages }: Request): string {
  return messages.find(({ role }) => role === 'user')?.content ?? '';
}

function call(name: string, input: object): Reply {
  return turn({ calls: [{ id: `call_${name}`, name, arguments: JSON.stringify(input) }] });
}

function turn(said: Partial<ScriptedTurn>): Reply {
  return { type: 'turn', turn: { inputTokens: 1_000, outputTokens: 20, ...said } };
}
