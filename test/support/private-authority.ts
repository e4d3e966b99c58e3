/** A certificate authority for one test, made with openssl, and a server certificate that it signs. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from './temporary-directory.ts';

export interface PrivateAuthority {
  /** The PEM file of the authority's certificate. */
  file: string;
  /** The certificate of the server and its key, in PEM. */
  cert: string;
  key: string;
}

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** @param names the subject alternative names, e.g. `DNS:provider.test` */
export async function privateAuthority(names: string): Promise<PrivateAuthority> {
  const directory = await temporaryDirectory();
  const at = (name: string): string => join(directory, name);
  const authority = ['-subj', '/CN=Test authority', '-addext', 'basicConstraints=critical,CA:TRUE'];
  await openssl(
    'req',
    '-x509',
    ...KEY,
    '-days',
    '2',
    ...authority,
    '-keyout',
    at('ca.key'),
    '-out',
    at('ca.pem'),
  );
  await openssl('req', ...KEY, '-subj', '/CN=server', '-keyout', at('server.key'), '-out', at('server.csr'));
  await writeFile(at('names'), `subjectAltName=${names}\n`);
  const signer = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-days', '2'];
  await openssl(
    'x509',
    '-req',
    '-in',
    at('server.csr'),
    ...signer,
    '-extfile',
    at('names'),
    '-out',
    at('server.pem'),
  );
  const [cert, key] = await Promise.all([
    readFile(at('server.pem'), 'utf8'),
    readFile(at('server.key'), 'utf8'),
  ]);
  return { file: at('ca.pem'), cert, key };
}

function openssl(...args: string[]): Promise<unknown> {
  return promisify(execFile)('openssl', args);
}
