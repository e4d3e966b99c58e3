/** Tests that the bridge finds its server although another program uses the server's default port. */
import { expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import { DEFAULT_PORT } from '../../../a2a-server/startup/settings/settings.ts';
import { errorCode } from '../../../shared/runtime/errors.ts';
import { readServerRecord } from '../../../shared/state/server-record.ts';
import { closeAfterTest, DELEGATE, startClient, stateDirectory } from './support/bridge-stage.ts';
import { textOf } from './support/raw-client.ts';

/** Takes the default port, unless another program has it already. */
async function takeDefaultPort(): Promise<void> {
  const other = createServer((_, response) => response.end('another program'));
  await new Promise<void>((resolve, reject) => {
    other.once('error', (error) => (errorCode(error) === 'EADDRINUSE' ? resolve() : reject(error)));
    other.listen({ host: '127.0.0.1', port: DEFAULT_PORT }, resolve);
  });
  closeAfterTest(() => other.close());
}

test('if its port is taken, the server that the bridge starts uses a free port and writes it to server.json, where the bridge finds it', async () => {
  await takeDefaultPort();
  const stateDir = await stateDirectory();
  const client = await startClient({}, { stateDir });
  closeAfterTest(async () => {
    const record = await readServerRecord(stateDir);
    if (record !== undefined) process.kill(record.pid, 'SIGKILL');
  });
  const done = await client.call(DELEGATE, { task: 'say hello' });
  expect(textOf(done)).toContain('hello');
  expect(done.structuredContent).toMatchObject({ state: 'completed' });
  const { url = '' } = (await readServerRecord(stateDir)) ?? {};
  expect(Number(new URL(url).port)).not.toBe(DEFAULT_PORT);
});
