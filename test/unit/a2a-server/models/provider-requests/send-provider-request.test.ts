/**
 * The only test of this file, because undici keeps the timer of its first request: that timer has to be a fake one.
 */
import { expect, it, jest } from '@jest/globals';
import { createServer, type ServerResponse } from 'node:http';
import { sendProviderRequest } from '../../../../../a2a-server/models/provider-requests/send-provider-request.ts';
import { Deferred } from '../../../../../shared/runtime/deferred.ts';
import { listenOnLoopback } from '../../../../support/listen-on-loopback.ts';

it('a request to a model provider waits longer than 300 s for an answer and for its rest, because the model call has a limit', async () => {
  const arrived = new Deferred<ServerResponse>();
  const slow = createServer((_request, response) => arrived.resolve(response));
  const { host, close } = await listenOnLoopback(slow);
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] });
  try {
    const asked = sendProviderRequest(new URL(`http://${host}/`));
    const response = await arrived.promise;
    await jest.advanceTimersByTimeAsync(400_000);
    response.write('Hel');
    const answer = await asked;
    await jest.advanceTimersByTimeAsync(400_000);
    response.end('lo.');
    expect(await answer.text()).toBe('Hello.');
  } finally {
    jest.useRealTimers();
    await close();
  }
});
