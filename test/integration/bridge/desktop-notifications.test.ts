/** Tests notifications of the desktop with real bridges, and with a program `notify-send` that records its arguments. */
import { expect, test } from '@jest/globals';
import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { pendingWrite } from '../../support/fake-agent-task.ts';
import { untilFileContains } from '../../support/file-watch.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { DELEGATE, LIST, startAgent, startClient, stateDirectory, WAIT } from './support/bridge-stage.ts';

/** Each line of `shown` is one notification. */
async function desktop() {
  const directory = await temporaryDirectory();
  const program = join(directory, 'notify-send');
  const shown = join(directory, 'shown');
  await writeFile(program, `#!/bin/sh\nprintf '%s|' "$@" >>'${shown}'\necho >>'${shown}'\n`);
  await chmod(program, 0o755);
  const env = { PATH: `${directory}${delimiter}${process.env['PATH'] ?? ''}` };
  const stateDir = await stateDirectory();
  return { shown, start: { stateDir, args: ['--desktop-notifications'], env } };
}

const line = (text: string) => `--app-name=mcp-a2a-bridge|--|mcp-a2a-bridge|${text}|\n`;

test('R68 each waiting action and each result that no call has collected shows one notification, over all bridges', async () => {
  const { shown, start } = await desktop();
  const agent = await startAgent({
    onMessage: (task, words) => {
      if (words.includes('ask')) task.work().ask(pendingWrite('one'));
      else if (words.includes('at once')) task.work().say('done').complete();
      else task.work();
    },
  });
  const client = await startClient(agent, start);
  const other = await startClient(agent, start);
  await other.call(LIST, {});
  await client.call(DELEGATE, { task: 'ask <b>me</b>', waitSeconds: 0 });
  const asks = line('ask &lt;b&gt;me&lt;/b&gt;: 1 action waits for a decision.');
  await untilFileContains(shown, asks);

  // This call waits for the result, so no notification is needed.
  await client.call(DELEGATE, { task: 'do it at once' });

  await client.call(DELEGATE, { task: 'walk away', waitSeconds: 0 });
  agent.tasks.get('task-3')?.say('done').complete();
  const ended = line('walk away: completed.');
  expect(await untilFileContains(shown, ended)).toBe(asks + ended);
  await other.call(LIST, {});
  await client.call(LIST, {});

  // A bridge that starts later shows nothing again.
  await client.kill();
  const later = await startClient(agent, start);
  await later.call(DELEGATE, { task: 'one more', waitSeconds: 0 });
  agent.tasks.get('task-4')?.say('done').complete();
  const more = line('one more: completed.');
  expect(await untilFileContains(shown, more)).toBe(asks + ended + more);
});

test('without a program for notifications, calls work, and the log says why nothing is shown', async () => {
  const { start } = await desktop();
  const agent = await startAgent({ onMessage: (task) => task.work() });
  const client = await startClient(agent, { ...start, env: { PATH: '/nowhere' } });
  await client.call(DELEGATE, { task: 'walk away', waitSeconds: 0 });
  agent.task.say('done').complete();
  while (!client.stderr.includes('a desktop notification could not be shown'))
    await once(client.process.stderr, 'data');
  expect((await client.call(WAIT, { sessionId: 'session-1' })).structuredContent).toMatchObject({
    state: 'completed',
  });
});
