import { expect, test } from '@jest/globals';
import { PassThrough } from 'node:stream';
import { StdioTransport } from '../../../../../bridge/transports/stdio/stdio-transport.ts';
import { createLogger } from '../../../../../shared/runtime/logging.ts';

const messages = (count: number) =>
  Array.from({ length: count }, (_, id) => ({
    jsonrpc: '2.0' as const,
    id,
    result: { text: 'x'.repeat(99) },
  }));

/** Uses a stdout with a small buffer, so that it is soon full. */
const transportTo = (stdout: PassThrough): StdioTransport =>
  new StdioTransport(new PassThrough(), stdout, createLogger({ name: 'test', level: 'silent' }));

test('S3 messages to a client that does not read wait in order, and each waiting message adds no listener', async () => {
  const stdout = new PassThrough({ highWaterMark: 1000 });
  const transport = transportTo(stdout);
  const before = stdout.listenerCount('error') + stdout.listenerCount('drain');
  const sent = Promise.all(messages(200).map((message) => transport.send(message)));
  expect(stdout.listenerCount('error') + stdout.listenerCount('drain') - before).toBeLessThanOrEqual(2);
  let read = '';
  stdout.on('data', (chunk: Buffer) => (read += chunk.toString()));
  await sent;
  expect(read).toBe(
    messages(200)
      .map((message) => `${JSON.stringify(message)}\n`)
      .join(''),
  );
});

test('a message that waits is rejected when stdout fails', async () => {
  const stdout = new PassThrough({ highWaterMark: 10 });
  const transport = transportTo(stdout);
  await transport.start();
  const sent = messages(3).map((message) => transport.send(message));
  stdout.destroy(new Error('broken pipe'));
  expect(await Promise.allSettled(sent)).toMatchObject([
    { status: 'rejected', reason: { message: 'broken pipe' } },
    { status: 'rejected', reason: { message: 'StdioServerTransport is closed' } },
    { status: 'rejected', reason: { message: 'StdioServerTransport is closed' } },
  ]);
});
