import { expect, test } from '@jest/globals';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { readRequestBody } from '../../../../../a2a-server/http/wire/request-body.ts';

test('X3 after its body was read, an open request does not refer to the body', async () => {
  const request = new IncomingMessage(new Socket());
  const read = readRequestBody(request, 100);
  request.push('abc');
  request.push(null);
  expect(String(await read)).toBe('abc');
  expect([request.listenerCount('data'), request.listenerCount('close')]).toEqual([0, 0]);
});
