/**
 * `a2a-server passkey add`: prints a one-time link that registers a passkey. The command writes to the records of the
 * server, so a client with only a bearer token cannot do the same. It prints the link at a terminal only, so a model
 * that runs the command gets no link.
 */
import { proveServer } from '../../shared/net/prove-server.ts';
import { messageOf, ProductError } from '../../shared/runtime/errors.ts';
import { fieldOf } from '../../shared/runtime/record.ts';
import { readServerRecord } from '../../shared/state/server-record.ts';
import { obtainToken } from '../../shared/state/token-file.ts';
import { makeRegistrationCode, REGISTRATION_MS } from '../presence/registration-codes.ts';
import { refuseOtherListener } from '../presence/refuse-other-listener.ts';
import { relyingPartyOf } from '../presence/relying-party.ts';
import { openRecords } from './open-records.ts';
import type { ServerSettings } from './settings.ts';

const LOCAL_PRINCIPAL = 'local';
const TIMEOUT_MS = 10_000;

interface AddPasskeyOptions {
  /** The user whose decisions the passkey can prove. */
  principal: string;
  atTerminal: boolean;
  say: (text: string) => void;
}

/**
 * @throws ProductError FORBIDDEN without a terminal, or if another program could receive the link; CONFIGURATION if the
 * server does not run, has no such user, or has no address for passkeys
 */
export async function addPasskey(
  { stateDir, database, tokens }: Pick<ServerSettings, 'stateDir' | 'database' | 'tokens'>,
  { principal, atTerminal, say }: AddPasskeyOptions,
): Promise<void> {
  if (!atTerminal)
    throw new ProductError(
      'FORBIDDEN',
      'Run `a2a-server passkey add` yourself in a terminal. Its link must not reach a program or a model.',
    );
  const local = await obtainToken(stateDir);
  const token =
    principal === LOCAL_PRINCIPAL ? local : tokens.find((each) => each.principal === principal)?.token;
  if (token === undefined)
    throw new ProductError(
      'CONFIGURATION',
      `The settings of this server name no user ${JSON.stringify(principal)}. Only the user ${LOCAL_PRINCIPAL} and the users of the setting "tokens" can register a passkey; a user with issued tokens alone cannot.`,
    );
  const record = await readServerRecord(stateDir);
  const proof = record === undefined ? undefined : await proveServer(record.url, local, TIMEOUT_MS);
  if (record === undefined || proof?.type !== 'proven')
    throw new ProductError(
      'CONFIGURATION',
      `No server of the state directory ${stateDir} runs. Start it first, e.g. with \`mcp-a2a-bridge server start\`.`,
    );
  await refuseOtherListener(record.url);
  const link = await signInLink(record.url, token);
  const party = relyingPartyOf(link.origin + link.pathname.replace(/\/page$/, ''));
  if (party.type === 'unusable') throw new ProductError('CONFIGURATION', party.problem);
  const records = await openRecords({ stateDir, database });
  const code = await makeRegistrationCode(records, principal, Date.now()).finally(() => records.close());
  const url = new URL(`${party.base}/page`);
  // A browser never sends the fragment, so no log contains the two codes.
  const codes = new URLSearchParams(link.hash.slice(1));
  codes.set('passkey', code);
  url.hash = codes.toString();
  say(
    `Open this link within ${REGISTRATION_MS / 60_000} minutes in the browser that has or will get the passkey of ${principal}. It works once:\n${url.href}`,
  );
}

async function signInLink(server: string, token: string): Promise<URL> {
  try {
    const response = await fetch(new URL('/page/links', server), {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: '{}',
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (!response.ok) throw new Error(`the server answered ${response.status}`);
    return new URL(String(fieldOf(await response.json(), 'url')));
  } catch (error) {
    throw new ProductError('AGENT_ERROR', `The server gave no link: ${messageOf(error)}.`, { cause: error });
  }
}
