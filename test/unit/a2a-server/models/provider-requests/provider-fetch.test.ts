import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createProviderFetch } from '../../../../../a2a-server/models/provider-requests/provider-fetch.ts';
import { startFakeModelEndpoint, type FakeModelEndpoint } from '../../../../support/fake-model-endpoint.ts';

let endpoint: FakeModelEndpoint;
beforeEach(async () => {
  endpoint = await startFakeModelEndpoint();
});
afterEach(() => endpoint.close());

const post = (url: string): Promise<Response> =>
  createProviderFetch({})(url, { method: 'POST', headers: { 'x-api-key': 'secret' }, body: '{}' });

describe('a request to a model provider', () => {
  it.each([301, 302, 303, 307, 308])(
    'X1 does not follow a redirect with status %s, because the request contains the key',
    async (status) => {
      const other = await startFakeModelEndpoint();
      const location = `${other.url}/login?code=private`;
      endpoint.script({ type: 'status', status, headers: { location } });
      await expect(post(`${endpoint.url}/v1/messages`)).rejects.toMatchObject({
        reason: 'AGENT_ERROR',
        message: expect.stringContaining(`${endpoint.url} redirects to ${other.url}/login.`),
      });
      expect(other.received).toEqual([]);
      await other.close();
    },
  );

  it('X3 is cut off if the provider sends an event of more than 16 MB', async () => {
    endpoint.script({ type: 'raw', body: `data: ${'a'.repeat(17_000_000)}\n\n` });
    const response = await post(`${endpoint.url}/v1/messages`);
    await expect(response.text()).rejects.toMatchObject({
      reason: 'AGENT_ERROR',
      message: `The answer of ${endpoint.url} was cut off: the peer sent an event of more than 16 MB.`,
    });
  });

  it('X3 reads 1 MB of an error response, so that its status decides about a retry', async () => {
    endpoint.script({ type: 'status', status: 503, body: 'a'.repeat(1_100_000) });
    const response = await post(`${endpoint.url}/v1/messages`);
    expect(response.status).toBe(503);
    expect((await response.text()).length).toBe(1024 * 1024);
  });
});
