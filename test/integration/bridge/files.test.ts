/** Tests a delegation with files of the workspace. */
import { describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FakeAgent } from '../../support/fake-agent.ts';
import { PNG } from '../../support/sample-files.ts';
import {
  closeAfterTest,
  DELEGATE,
  program,
  startAgent,
  startClient,
  stateDirectory,
  onOwnBridge,
} from './support/bridge-stage.ts';
import { textOf, refusalOf, sessionOf } from './support/raw-client.ts';

/** Creates a workspace with an image and a text file. */
async function workspaceWithFiles(): Promise<string> {
  const workspace = await mkdtemp(join(program.directory, 'workspace-'));
  await writeFile(join(workspace, 'shot.png'), PNG);
  await writeFile(join(workspace, 'notes.md'), 'one\n');
  return workspace;
}

const TAKES_IMAGES = { inputModes: ['text/plain', 'image/png'] };

describe('a delegation with files', () => {
  test('a delegation with files sends an image as bytes and a text file as text, after the task text', async () => {
    const workspace = await workspaceWithFiles();
    const { agent, client } = await onOwnBridge({ ...TAKES_IMAGES, onMessage: (task) => task.complete() });
    const files = ['shot.png', join(workspace, 'notes.md')];
    const result = await client.call(DELEGATE, { task: 'Look', workspace, files });
    expect(result.structuredContent).toMatchObject({ state: 'completed' });
    expect(partsSent(agent)).toMatchObject([
      { text: 'Look' },
      { raw: PNG.toString('base64'), filename: 'shot.png', mediaType: 'image/png' },
      { text: '[file notes.md]\none\n', filename: 'notes.md', mediaType: 'text/plain' },
    ]);
  });

  test('a message to a session sends the files too', async () => {
    const workspace = await workspaceWithFiles();
    const { agent, client } = await onOwnBridge({ ...TAKES_IMAGES, onMessage: (task) => task.complete() });
    const first = await client.call(DELEGATE, { task: 'Begin', workspace });
    const sessionId = sessionOf(first);
    await client.call(DELEGATE, { task: 'Look', sessionId, files: [join(workspace, 'shot.png')] });
    expect(partsSent(agent, 1)).toMatchObject([{ text: 'Look' }, { filename: 'shot.png' }]);
  });

  test('a delegation with files is refused if the agent card does not list the file type, and the bridge sends and stores nothing', async () => {
    const workspace = await workspaceWithFiles();
    const { agent, client } = await onOwnBridge({ onMessage: (task) => task.complete() });
    const result = await client.call(DELEGATE, { task: 'Look', workspace, files: ['shot.png'] });
    expect(refusalOf(result)).toMatch(
      /takes no image\/png \(shot\.png\): its card lists text\/plain\. Nothing was sent\./,
    );
    expect(agent.count('SendStreamingMessage')).toBe(0);
    expect(textOf(await client.call('list_all_active_sessions', {}))).not.toContain('Look');
  });

  test('a consultation sends its files, and refuses a file outside the workspaces', async () => {
    const workspace = await workspaceWithFiles();
    const agent = await startAgent({ ...TAKES_IMAGES, onMessage: (task) => task.complete() });
    const client = await startClient(agent, { workspaces: [workspace] });
    const consult = 'quick_consultation_for_second_opinion';
    const files = [join(workspace, 'shot.png')];
    const result = await client.call(consult, { question: 'What is this?', files });
    expect(result.structuredContent).toMatchObject({ state: 'completed' });
    expect(partsSent(agent)).toMatchObject([
      { text: expect.stringContaining('What is this?') },
      { raw: PNG.toString('base64'), filename: 'shot.png', mediaType: 'image/png' },
    ]);
    const outside = await client.call(consult, { question: 'And this?', files: ['/etc/hostname'] });
    expect(textOf(outside)).toContain('/etc/hostname is outside of');
    expect(partsSent(agent, 1)).toBeUndefined();
  });

  test('X2 a delegation with a file outside the workspaces is refused', async () => {
    const workspace = await workspaceWithFiles();
    const agent = await startAgent(TAKES_IMAGES);
    const client = await startClient(agent, { workspaces: [workspace] });
    const result = await client.call(DELEGATE, { task: 'Look', workspace, files: ['/etc/hostname'] });
    expect(refusalOf(result)).toContain('/etc/hostname is outside of');
    expect(agent.count('SendStreamingMessage')).toBe(0);
  });

  test('B1 after a kill of the first bridge, the next bridge sends the same bytes, although the file is deleted', async () => {
    const workspace = await workspaceWithFiles();
    const gone = await FakeAgent.start(TAKES_IMAGES);
    const stateDir = await stateDirectory();
    const first = await startClient(gone, { stateDir });
    const openGate = gone.hold();
    first.send('tools/call', { name: DELEGATE, arguments: { task: 'Look', workspace, files: ['shot.png'] } });
    await gone.asked('SendStreamingMessage');
    await first.kill();
    openGate();
    const { port } = gone;
    await gone.stop();
    await rm(join(workspace, 'shot.png'));
    const agent = await FakeAgent.start({ ...TAKES_IMAGES, port, onMessage: (task) => task.complete() });
    closeAfterTest(() => agent.stop());
    const next = await startClient(agent, { stateDir });
    await next.call('list_all_active_sessions', {});
    await agent.asked('SendStreamingMessage');
    expect(partsSent(agent)).toEqual(partsSent(gone));
    expect(partsSent(agent)).toMatchObject([{ text: 'Look' }, { raw: PNG.toString('base64') }]);
  });
});

function partsSent({ requests }: FakeAgent, index = 0): unknown {
  const sent = requests.filter(({ method }) => method === 'SendStreamingMessage')[index];
  const message = sent?.params['message'];
  return typeof message === 'object' && message !== null ? Reflect.get(message, 'parts') : undefined;
}
