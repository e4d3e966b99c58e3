import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client as Client2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { MODEL_TOOL_NAMES } from '../../../bridge/tool-names/tool-names.ts';
import { FakeAgent } from '../../support/fake-agent.ts';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import { type BridgeStart, bridgeCommand } from './support/bridge-program.ts';
import {
  APPROVE_ONE,
  CHECK,
  DECIDE,
  DELEGATE,
  LIST,
  WAIT,
  bridgeStart,
  closing,
  program,
  stateDirectory,
} from './support/bridge-stage.ts';

interface Listed {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  inputSchema: object;
  outputSchema?: object | undefined;
  annotations?: { readOnlyHint?: boolean | undefined; destructiveHint?: boolean | undefined } | undefined;
  _meta?: Record<string, unknown> | undefined;
}

/** The functions that the tests use of an MCP client of any SDK version. */
interface AnyClient {
  revision: string | undefined;
  instructions: string | undefined;
  tools(): Promise<readonly Listed[]>;
  call(
    name: string,
    args: Record<string, unknown>,
  ): Promise<{ structured: unknown; text: string; isError: boolean }>;
  close(): Promise<void>;
}

type Connect = (start: BridgeStart) => Promise<AnyClient>;

const first =
  (mode: 'legacy' | { pin: string }): Connect =>
  async (start) => {
    const client = new Client2({ name: 'test', version: '0' }, { versionNegotiation: { mode } });
    await client.connect(new Stdio2({ ...bridgeCommand(program, start), stderr: 'ignore' }));
    return {
      revision: client.getNegotiatedProtocolVersion(),
      instructions: client.getInstructions(),
      tools: async () => (await client.listTools()).tools,
      async call(name, args) {
        const { content, structuredContent, isError } = await client.callTool({ name, arguments: args });
        return { structured: structuredContent, text: textIn(content), isError: isError === true };
      },
      close: () => client.close(),
    };
  };

const older: Connect = async (start) => {
  const client = new Client1({ name: 'test', version: '0' });
  await client.connect(new Stdio1({ ...bridgeCommand(program, start), stderr: 'ignore' }));
  return {
    revision: undefined,
    instructions: client.getInstructions(),
    tools: async () => (await client.listTools()).tools,
    async call(name, args) {
      const { content, structuredContent, isError } = await client.callTool({ name, arguments: args });
      return { structured: structuredContent, text: textIn(content), isError: isError === true };
    },
    close: () => client.close(),
  };
};

function textIn(content: unknown): string {
  return Array.isArray(content)
    ? content
        .map((each: unknown) =>
          typeof each === 'object' && each !== null && 'text' in each ? String(each.text) : '',
        )
        .join('\n')
    : '';
}

const CLIENTS: readonly [string, Connect, string | undefined][] = [
  ['the 2.x client, revision 2026-07-28', first({ pin: '2026-07-28' }), '2026-07-28'],
  ['the 2.x client, revision 2025-11-25', first('legacy'), '2025-11-25'],
  ['the 1.x client', older, undefined],
];

describe.each(CLIENTS)('%s', (_, connect, revision) => {
  let agent: FakeAgent;
  let client: AnyClient;

  beforeAll(async () => {
    agent = await FakeAgent.start({
      token: 'a-secret',
      onMessage: (task, text) =>
        text.startsWith('ask')
          ? task.work().ask(pendingWrite('one'))
          : task.work().say(`did ${text}`).complete(),
      onDecisions: (task) => task.work().say('written').complete(),
    });
    const stateDir = await stateDirectory();
    client = await connect({ stateDir, agentUrl: agent.url, token: 'a-secret' });
  });
  afterAll(async () => {
    await client.close();
    await agent.stop();
  });

  test('a client receives instructions of less than 2 KB that explain the server', () => {
    if (revision !== undefined) expect(client.revision).toBe(revision);
    expect(client.instructions).toContain('delegate_task_to_assistant');
    expect(Buffer.byteLength(client.instructions ?? '')).toBeLessThan(2048);
  });

  test('a client lists every tool with title, description, schemas and annotations that do not contradict each other', async () => {
    const tools = new Map((await client.tools()).map((tool) => [tool.name, tool]));
    expect([...tools.keys()].toSorted()).toEqual([...MODEL_TOOL_NAMES].toSorted());
    for (const tool of tools.values()) {
      expect(tool.title).toBeTruthy();
      expect(Buffer.byteLength(tool.description ?? '')).toBeGreaterThan(50);
      expect(Buffer.byteLength(tool.description ?? '')).toBeLessThan(2048);
      expect(tool.inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(tool.outputSchema).toMatchObject({ type: 'object' });
      expect(tool.annotations?.readOnlyHint === true && tool.annotations.destructiveHint === true).toBe(
        false,
      );
    }
    const { _meta: hints } = tools.get('approve_or_deny_pending_action') ?? {};
    expect(hints).toMatchObject({ 'anthropic/alwaysLoad': true });
    // These clients show no forms (R96).
    expect(hints).not.toHaveProperty('anthropic/requiresUserInteraction');
    expect(tools.get('wait_for_task')?.annotations).toMatchObject({ readOnlyHint: true });
    expect(tools.get('delegate_task_to_assistant')?.annotations).toMatchObject({ destructiveHint: true });
  });

  test('a client delegates, sees the pending action, approves, and gets the result as text and as structured content', async () => {
    const asked = await client.call(DELEGATE, { task: 'ask' });
    expect(asked.structured).toMatchObject({
      state: 'input_required',
      pending: [
        {
          callId: 'one',
          tool: 'write-file',
          preview: '│ --- /dev/null\n│ +++ b/one.md\n│ @@ -0,0 +1 @@\n│ +hello',
          input: { content: 'hello' },
        },
      ],
    });
    for (const said of [
      'callId one',
      'write-file',
      '+hello',
      'approve, deny, edit',
      'approve_or_deny_pending_action',
    ]) {
      expect(asked.text).toContain(said);
    }
    const sessionId = sessionIn(asked.structured);
    const done = await client.call(DECIDE, { sessionId, ...APPROVE_ONE });
    expect(done.structured).toMatchObject({ state: 'completed', output: 'written', sessionId });
    expect(done.text).toContain('written');
    expect(done.text).toContain(sessionId);
  });

  test('B4 a client gets a failure as a result with isError and an explanation, not as a protocol error', async () => {
    const unknown = await client.call(WAIT, { sessionId: 'nowhere' });
    expect(unknown.isError).toBe(true);
    expect(unknown.text).toContain('The sessions that exist are: session-');
    const invalid = await client.call(DELEGATE, { task: 1 });
    expect(invalid.isError).toBe(true);
    const agentless = await client.call(DELEGATE, { task: 'x', agent: 'nobody' });
    expect(agentless.text).toContain('There is no agent "nobody". The agents are: "agent".');
  });

  test('a client consults an agent, lists its sessions, and reads its capabilities', async () => {
    const answer = await client.call('quick_consultation_for_second_opinion', { question: 'why' });
    expect(answer.structured).toMatchObject({ state: 'completed', output: 'did why' });
    const listed = await client.call(LIST, { state: 'completed' });
    expect(listed.text).toContain(sessionIn(answer.structured));
    const who = await client.call('get_agent_capabilities_and_version', {});
    expect(who.structured).toMatchObject({
      agents: [{ reachable: true, card: { name: 'fake agent', version: '9.8.7' } }],
    });
    const status = await client.call(CHECK, {
      sessionId: sessionIn(answer.structured),
    });
    expect(status.structured).toMatchObject({ state: 'completed' });
  });

  test('with --tool-prefix, a client sees the prefix in each tool name, and in the instructions and results', async () => {
    const address = { url: agent.url, token: 'a-secret' };
    const args = ['--tool-prefix', 'gemini_'];
    const other = closing(await connect(await bridgeStart(address, { args })));
    const names = (await other.tools()).map((tool) => tool.name);
    expect(names.toSorted()).toEqual(MODEL_TOOL_NAMES.map((name) => `gemini_${name}`).toSorted());
    expect(other.instructions).toContain('gemini_wait_for_task');
    expect(other.instructions?.replaceAll('gemini_', '')).toBe(client.instructions);
    const asked = await other.call('gemini_delegate_task_to_assistant', { task: 'ask' });
    expect(asked.text).toContain('gemini_approve_or_deny_pending_action');
    const unknown = await other.call('gemini_wait_for_task', { sessionId: 'nowhere' });
    expect(unknown.isError).toBe(true);
  });
});

function sessionIn(structured: unknown): string {
  if (typeof structured !== 'object' || structured === null || !('sessionId' in structured))
    throw new Error('no session');
  return String(structured.sessionId);
}
