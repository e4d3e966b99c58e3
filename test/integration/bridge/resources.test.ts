import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client as Client2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { z } from 'zod';
import { FakeAgent } from '../../support/fake-agent.ts';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import { bridgeCommand } from './support/bridge-program.ts';
import { program, stateDirectory } from './support/bridge-stage.ts';

const CHARACTERS = 5_000_000;
/** Each part of this text is unique, so that the test notices a wrong position. */
const LONG = Array.from({ length: CHARACTERS / 10 }, (_, index) => String(index).padStart(10, '.')).join('');

const contents = z.object({
  contents: z.array(z.looseObject({ uri: z.string(), mimeType: z.string(), text: z.string() })),
});
const report = z.object({
  structuredContent: z.object({
    sessionId: z.string(),
    output: z.string(),
    notes: z.array(z.string()).default([]),
  }),
});

async function connected(
  revision: '2026-07-28' | '2025-11-25' | '1.x',
  command: ReturnType<typeof bridgeCommand>,
) {
  if (revision === '1.x') {
    const client = new Client1({ name: 'test', version: '0' });
    await client.connect(new Stdio1({ ...command, stderr: 'ignore' }));
    return client;
  }
  const mode = revision === '2026-07-28' ? { pin: revision } : 'legacy';
  const client = new Client2({ name: 'test', version: '0' }, { versionNegotiation: { mode } });
  await client.connect(new Stdio2({ ...command, stderr: 'ignore' }));
  return client;
}

describe.each(['2026-07-28', '2025-11-25', '1.x'] as const)(
  'the MCP resources and prompts, client %s',
  (revision) => {
    let agent: FakeAgent;
    let client: Awaited<ReturnType<typeof connected>>;

    const delegated = async (task: string): Promise<z.infer<typeof report>['structuredContent']> =>
      report.parse(await client.callTool({ name: 'gemini_delegate_task_to_assistant', arguments: { task } }))
        .structuredContent;
    const read = async (uri: string): Promise<z.infer<typeof contents>['contents'][number]> => {
      const [only, ...others] = contents.parse(await client.readResource({ uri })).contents;
      if (only === undefined || others.length > 0) throw new Error('one was expected');
      return only;
    };

    beforeAll(async () => {
      agent = await FakeAgent.start({
        onMessage: (task, text) =>
          text === 'ask'
            ? task.work().ask(pendingWrite('one'))
            : task
                .work()
                .say(text === 'long' ? LONG : text)
                .complete(),
      });
      const stateDir = await stateDirectory();
      client = await connected(
        revision,
        bridgeCommand(program, { stateDir, agentUrl: agent.url, args: ['--tool-prefix', 'gemini_'] }),
      );
    });
    afterAll(async () => {
      await client.close();
      await agent.stop();
    });

    test('R70 a result of 5 MB is cut at the client’s limit, and the notes name an MCP resource with the rest', async () => {
      const { output, notes } = await delegated('long');
      expect(output).toBe(LONG.slice(0, 150_000));
      const [rest = '', whole = ''] = notes.join(' ').match(/task:\/\/[^\s,]*[^\s,.]/g) ?? [];
      expect(output + (await read(rest)).text).toBe(LONG);
      expect((await read(whole)).text).toBe(LONG);
      const listed = await client.listResources();
      expect(listed.resources).toContainEqual(expect.objectContaining({ uri: whole, size: CHARACTERS }));
    });

    test('a client reads each part of a task at its URI from the resource list', async () => {
      const { sessionId } = await delegated('ask');
      const listed = (await client.listResources()).resources.filter(({ uri }) => uri.includes(sessionId));
      expect(listed.map(({ uri }) => uri.split('/').at(-1))).toEqual([
        'state',
        'transcript',
        'artifacts',
        'diff',
      ]);
      const parts = await Promise.all(listed.map(({ uri }) => read(uri)));
      const [state, transcript, artifacts, diff] = parts.map(({ text }) => text);
      expect(JSON.parse(state ?? '')).toMatchObject({
        sessionId,
        state: 'input_required',
        pending: [{ callId: 'one' }],
      });
      expect(transcript).toMatch(/^# Task .*input-required\n\n## Person\n\nask/);
      expect(artifacts).toBe('');
      expect(diff).toContain('+hello');
      expect(parts.map(({ mimeType }) => mimeType)).toEqual(listed.map(({ mimeType }) => mimeType));
    });

    test('the read of an unknown resource is an error; for an unknown session the error names the session', async () => {
      const { sessionId } = await delegated('short');
      await expect(client.readResource({ uri: 'task://agent/nowhere/none/state' })).rejects.toThrow(
        /There is no session "nowhere"/,
      );
      for (const uri of [
        'task://agent/nowhere/none/state',
        `task://nobody/${sessionId}/none/state`,
        `task://agent/${sessionId}/none/state`,
        `task://agent/${sessionId}/none/secrets`,
        'nowhere://none',
      ])
        await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32602 });
      const { resourceTemplates } = await client.listResourceTemplates();
      expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
        'task://{agent}/{session}/{task}/{part}',
        'task://{agent}/{session}/{task}/{part}/{from}',
      ]);
    });

    test('the prompts have their arguments, and their text uses the tool names with the prefix', async () => {
      const { prompts } = await client.listPrompts();
      expect(prompts.map(({ name, arguments: args = [] }) => [name, ...args.map((arg) => arg.name)])).toEqual(
        [
          ['delegate', 'task', 'agent'],
          ['review_pending', 'session'],
          ['resume', 'session'],
        ],
      );
      const { messages } = await client.getPrompt({ name: 'delegate', arguments: { task: 'Sort it.' } });
      expect(JSON.stringify(messages)).toMatch(/gemini_delegate_task_to_assistant.*Sort it\./);
      expect((await client.getPrompt({ name: 'resume', arguments: {} })).messages).toHaveLength(1);
    });
  },
);
