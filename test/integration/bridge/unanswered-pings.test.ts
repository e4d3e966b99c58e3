import { expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  ElicitRequestSchema,
  ListRootsRequestSchema,
  PingRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { pathToFileURL } from 'node:url';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import { bridgeCommand } from './support/bridge-program.ts';
import {
  DELEGATE,
  FAST_ANSWERS,
  bridgeStart,
  closing,
  program,
  startAgent,
  stateDirectory,
} from './support/bridge-stage.ts';

test.each([
  ['refuses a ping', () => Promise.reject(new Error('no such method'))],
  ['does not answer a ping', () => new Promise<never>(() => undefined)],
])('R67 a client that %s still shows the first form, and its roots count', async (_, ping) => {
  const agent = await startAgent({
    onMessage: (task) => task.work().ask(pendingWrite('one')),
    onDecisions: (task) => task.work().complete(),
  });
  const workspace = await stateDirectory();
  const client = new Client({ name: 'test', version: '0' }, { capabilities: { elicitation: {}, roots: {} } });
  client.setRequestHandler(PingRequestSchema, ping);
  client.setRequestHandler(ListRootsRequestSchema, () => ({
    roots: [{ uri: pathToFileURL(workspace).href }],
  }));
  const forms: string[] = [];
  client.setRequestHandler(ElicitRequestSchema, ({ params: { message } }) => {
    forms.push(message);
    return { action: 'accept', content: {} };
  });
  const start = await bridgeStart(agent, { args: FAST_ANSWERS });
  await closing(client).connect(
    new StdioClientTransport({ ...bridgeCommand(program, start), stderr: 'ignore' }),
  );
  const done = await client.callTool({ name: DELEGATE, arguments: { task: 'do it', workspace } });
  expect(done.structuredContent).toMatchObject({ state: 'completed' });
  expect(forms).toEqual(['Create one.md: +1\n+ hello']);
});
