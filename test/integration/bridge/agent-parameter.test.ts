import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import { FakeAgent } from '../../support/fake-agent.ts';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import { DELEGATE, program, stateDirectory } from './support/bridge-stage.ts';
import { RawClient, textOf, type ToolResult } from './support/raw-client.ts';
import { listenOnLoopback } from '../../support/listen-on-loopback.ts';

const ABORT = 'abort_tool_execution';

/** Each tool that takes a session id, with the other arguments that it requires. */
const OF_A_SESSION: readonly [string, object][] = [
  ['check_task_progress_and_status', {}],
  ['wait_for_task', { waitSeconds: 0 }],
  ['approve_or_deny_pending_action', { callId: 'one', shown: 'hash-of-one', decision: 'approve' }],
  ['cancel_running_task', {}],
];

const offered = z.object({
  tools: z.array(
    z.looseObject({ name: z.string(), inputSchema: z.looseObject({ properties: z.looseObject({}) }) }),
  ),
});

const listed = z.object({ resources: z.array(z.object({ uri: z.string() })) });
const contents = z.object({ contents: z.array(z.object({ text: z.string() })) });

describe('the parameter "agent" of a tool', () => {
  let client: RawClient;
  let first: FakeAgent;
  let second: FakeAgent;
  const ends: (() => Promise<unknown> | void)[] = [];

  beforeAll(async () => {
    const asks = { onMessage: (task: FakeAgent['task']) => task.work().ask(pendingWrite('one')) };
    first = await FakeAgent.start();
    second = await FakeAgent.start(asks);
    // This agent accepts connections and never answers.
    const silent = createServer();
    const { host } = await listenOnLoopback(silent);
    const agents = {
      silent: { url: `http://${host}` },
      first: { url: first.url },
      second: { url: second.url },
    };
    const stateDir = await stateDirectory();
    await writeFile(join(stateDir, 'config.json'), JSON.stringify({ bridge: { agents } }));
    client = await RawClient.start(program, { stateDir });
    ends.push(
      () => client.kill(),
      () => first.stop(),
      () => second.stop(),
      () => void silent.close(),
    );
  });
  /** Starts a second session at the second agent. The first agent has no session with this id. */
  const secondSession = async (): Promise<unknown> => {
    if (second.tasks.size < 2) await client.call(DELEGATE, { task: 'write more', agent: 'second' });
    return 'session-2';
  };
  afterAll(async () => {
    for (const end of ends) await end();
  });

  test('docs/mcp-tools.md lists each tool with its parameters, and "agent" for each tool with a session id or a tool id', async () => {
    const { tools } = offered.parse((await client.request('tools/list', {})).result);
    const page = await readFile('docs/mcp-tools.md', 'utf8');
    for (const { name, inputSchema } of tools) {
      const section = page.split('\n### ').find((each) => each.startsWith(`\`${name}\`\n`)) ?? '';
      const parameters = Object.keys(inputSchema.properties);
      const missing = parameters.filter((each) => !section.includes(`\n| \`${each}\``));
      expect(missing.map((each) => [name, each])).toEqual([]);
      if (parameters.includes('sessionId') || parameters.includes('toolId'))
        expect(parameters).toContain('agent');
    }
  });

  test('if two agents have a session with the same id, the bridge sends a call only to the agent that the call names', async () => {
    const parked = await client.call(DELEGATE, { task: 'write', agent: 'second' });
    expect(parked.structuredContent).toMatchObject({ sessionId: 'session-1', agent: 'second' });
    const working = await client.call(DELEGATE, { task: 'work', agent: 'first', waitSeconds: 0 });
    expect(working.structuredContent).toMatchObject({ sessionId: 'session-1', agent: 'first' });
    const requestsBefore = first.requests.length;
    for (const [tool, args] of OF_A_SESSION.slice(0, 2)) {
      const seen = await client.call(tool, { sessionId: 'session-1', agent: 'second', ...args });
      expect(seen.structuredContent).toMatchObject({ agent: 'second', state: 'input_required' });
    }
    expect(first.requests).toHaveLength(requestsBefore);
  });

  test('if two agents have tasks with the same ids, the resource URIs name the agent', async () => {
    const { resources } = listed.parse((await client.request('resources/list', {})).result);
    const states = resources.map(({ uri }) => uri).filter((uri) => uri.endsWith('/session-1/task-1/state'));
    const read = await Promise.all(states.map((uri) => client.request('resources/read', { uri })));
    const texts = read.flatMap(({ result }) => contents.parse(result).contents.map(({ text }) => text));
    const agents = texts.map((text) => /"agent": "(\w+)"/.exec(text)?.[1]);
    expect(new Set(agents)).toEqual(new Set(['first', 'second']));
  });

  test.each(OF_A_SESSION)(
    '%s with the wrong agent returns an error that names the right agent',
    async (tool, args) => {
      const sessionId = await secondSession();
      const wrong = await client.call(tool, { sessionId, agent: 'first', ...args });
      expect(saidOf(wrong)).toMatch(/^Session "session-2" is with agent "second", not with "first"/);
      expect(second.decisions).toEqual([]);
      expect(second.count('CancelTask')).toBe(0);
      const unknown = await client.call(tool, { sessionId, agent: 'third', ...args });
      expect(saidOf(unknown)).toMatch(
        /^There is no agent "third"\. The agents are: "silent", "first", "second"/,
      );
    },
  );

  test('R41 the bridge sends an abort to all agents at the same time; an agent that never answers delays only the result for an unknown id, which names it', async () => {
    let answered = false;
    const unknown = client.call(ABORT, { toolId: 'elsewhere' }).finally(() => (answered = true));
    const stopped = await client.call(ABORT, { toolId: 'live-9' });
    expect(stopped.structuredContent).toEqual({
      success: true,
      message: expect.stringMatching(/asked to abort live-9$/),
    });
    // The earlier call still waits for the silent agent.
    expect(answered).toBe(false);
    expect(saidOf(await unknown)).toMatch(
      /Agent "silent" did not answer in time.*Agent "first": asked to abort elsewhere/,
    );
  });

  test('R41 if a call names an agent, the bridge sends the abort only to that agent', async () => {
    const before = first.aborted.length;
    const stopped = await client.request('tools/abort', { toolId: 'live-8', agent: 'second' });
    expect(stopped.result).toMatchObject({ success: true, message: 'asked to abort live-8' });
    expect(first.aborted).toHaveLength(before);
  });
});

function saidOf(result: ToolResult): string {
  expect(result.isError).toBe(true);
  return textOf(result).replace(/^Not aborted: /, '');
}
