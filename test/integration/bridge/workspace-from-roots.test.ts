/** Tests `--workspace-from-roots`, with a client that reports its open folders as MCP roots, as VS Code does. */
import { beforeEach, expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { mkdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { TOOL_APPROVAL_EXTENSION } from '../../../shared/protocol/tool-approval.ts';
import { FakeAgent } from '../../support/fake-agent.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { DELEGATE, closeAfterTest, closing, program, stateDirectory } from './support/bridge-stage.ts';
import { bridgeCommand } from './support/bridge-program.ts';
import { type FormResult, formResult } from './support/form-client.ts';

let agent: FakeAgent;
let home: string;
beforeEach(async () => {
  agent = await FakeAgent.start({ onMessage: (task) => task.work().say('did it').complete() });
  closeAfterTest(() => agent.stop());
  home = await realpath(await temporaryDirectory());
  await mkdir(join(home, 'open', 'sub'), { recursive: true });
});

/** A client that starts the bridge in the home directory. */
async function clientWith(...open: readonly string[]): Promise<Client> {
  const client = new Client({ name: 'editor', version: '0' }, { capabilities: { roots: {} } });
  client.setRequestHandler('roots/list', () => ({
    roots: open.map((folder) => ({ uri: pathToFileURL(join(home, folder)).href })),
  }));
  const start = {
    stateDir: await stateDirectory(),
    agentUrl: agent.url,
    workspaces: [],
    args: ['--workspace-from-roots'],
    env: { CLAUDE_PROJECT_DIR: home },
  };
  await client.connect(new StdioClientTransport({ ...bridgeCommand(program, start), stderr: 'ignore' }));
  return closing(client);
}

const delegate = async (client: Client, args: object): Promise<FormResult> =>
  formResult.parse(await client.callTool({ name: DELEGATE, arguments: { task: 'Do it', ...args } }));
const workspaces = (): unknown[] =>
  agent.requests
    .filter(({ method }) => method === 'SendStreamingMessage')
    .map(
      ({ params }) =>
        JSON.parse(JSON.stringify(params['message'])).metadata[TOOL_APPROVAL_EXTENSION].workspace,
    );

test('X2 a task works in the first open folder, and a call may name a directory in it, but not one beside it', async () => {
  const client = await clientWith('open', 'other');
  expect(await delegate(client, {})).toMatchObject({ structuredContent: { state: 'completed' } });
  expect(await delegate(client, { task: 'Again', workspace: 'sub' })).not.toHaveProperty('isError', true);
  const beside = await delegate(client, { task: 'Else', workspace: join(home, '.ssh') });
  expect(beside).toMatchObject({ isError: true, content: [{ text: expect.stringContaining('outside') }] });
  expect(workspaces()).toEqual([join(home, 'open'), join(home, 'open', 'sub')]);
});

test('X2 without an open folder, a task without a workspace is refused, and nothing is sent', async () => {
  const client = await clientWith();
  for (const args of [{}, { workspace: home }])
    expect(await delegate(client, args)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/open (a )?folder/i) }],
    });
  expect(workspaces()).toEqual([]);
});
