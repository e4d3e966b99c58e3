/** Tests an agent with TLS, whose certificate the machine does not trust. */
import { expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { closeAfterTest, startClient, stateDirectory } from './support/bridge-stage.ts';
import { textOf } from './support/raw-client.ts';
import { listenOnLoopback } from '../../support/listen-on-loopback.ts';

const LOOK = 'get_agent_capabilities_and_version';

/** Creates a self-signed certificate for 127.0.0.1, and its key. */
async function selfSigned(): Promise<{ certificate: string; key: string }> {
  const directory = await stateDirectory();
  const [certificate, key] = [join(directory, 'certificate.pem'), join(directory, 'key.pem')];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const name = ['-subj', '/CN=agent', '-addext', 'subjectAltName=IP:127.0.0.1'];
  await promisify(execFile)('openssl', ['req', ...kind, ...name, '-keyout', key, '-out', certificate]);
  return { certificate, key };
}

test.each([
  [
    'a self-signed certificate',
    '127.0.0.1',
    false,
    /not trusted: its certificate is self-signed .*Nothing was sent\. Set NODE_EXTRA_CA_CERTS/,
  ],
  [
    'a certificate for another host name',
    'localhost',
    true,
    /not trusted: its certificate is for another host name .*Nothing was sent\. Set the URL/,
  ],
  ['a certificate that NODE_EXTRA_CA_CERTS names', '127.0.0.1', true, /Behind TLS 1\.0/],
])('an agent with %s', async (_, host, trusts, says) => {
  const { certificate, key } = await selfSigned();
  let requests = 0;
  const server = createServer(
    { cert: await readFile(certificate), key: await readFile(key) },
    (request, response) => {
      requests += 1;
      const url = `https://${request.headers.host ?? ''}`;
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          name: 'Behind TLS',
          version: '1.0',
          supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
          capabilities: {},
          skills: [],
        }),
      );
    },
  );
  const { port, close } = await listenOnLoopback(server);
  closeAfterTest(close);
  const client = await startClient(
    { url: `https://${host}:${String(port)}` },
    { env: trusts ? { NODE_EXTRA_CA_CERTS: certificate } : {} },
  );
  const looked = await client.call(LOOK, {});
  expect(textOf(looked)).toMatch(says);
  expect(requests > 0).toBe(trusts && host === '127.0.0.1');
});
