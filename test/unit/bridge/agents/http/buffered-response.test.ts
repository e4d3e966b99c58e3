import { expect, test } from '@jest/globals';
import { BufferedResponse } from '../../../../../bridge/agents/http/buffered-response.ts';

const bytes = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
const headers = new Map([['content-type', 'application/json']]);
const OK = { status: 200, statusText: 'OK', headers };

test('a response that is read has the status, the text and the JSON of its body', async () => {
  const response = new BufferedResponse(bytes('{"a":"é"}'), OK);
  expect(response).toMatchObject({ ok: true, status: 200, statusText: 'OK', redirected: false });
  expect(await response.text()).toBe('{"a":"é"}');
  expect(await response.json()).toEqual({ a: 'é' });
  expect(new BufferedResponse(null, { ...OK, status: 404 }).ok).toBe(false);
});

test('invalid JSON rejects', async () => {
  await expect(new BufferedResponse(bytes('<html>'), OK).json()).rejects.toThrow(/JSON/);
});

test('the rest of a response is that of Node’s own', async () => {
  const response = new BufferedResponse(bytes('data'), OK);
  expect(response.headers.get('Content-Type')).toBe('application/json');
  const copy = response.clone();
  expect(await new Response(response.body).text()).toBe('data');
  expect(response.bodyUsed).toBe(true);
  expect(await copy.text()).toBe('data');
  expect(new BufferedResponse(null, { ...OK, status: 204 }).body).toBeNull();
  const blob = await new BufferedResponse(bytes('data'), OK).blob();
  expect([blob.type, await blob.text()]).toEqual(['application/json', 'data']);
});
