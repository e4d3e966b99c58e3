/**
 * `a2a-server passkey add`: prints a one-time link that registers a passkey. The command writes to the records of the
 * server, so a client with only a bearer token cannot do the same. It prints the link at a terminal only, so a model
 * that runs the command gets no link.
 */
import { requestServerProof } from '../../../shared/net/request-server-proof.ts';
import { errorMessageOf, ProductError } from '../../../shared/runtime/errors.ts';
import { fieldOf } from '../../../shared/runtime/record.ts';
import { readServerRecord } from '../../../shared/state/server-record.ts';
import { readOrCreateTokenFile } from '../../../shared/state/token-file.ts';
import { identityOfTokenRecord } from '../../access/identity.ts';
import { expiryOfToken, type IssuedTokenRecord, issuedTokenState } from '../../access/issued-token.ts';
import { mayComeFromProvider } from '../../access/oidc-settings.ts';
import { createTokenStore } from '../../access/token-store.ts';
import { createPageAccessStore } from '../../page/page-access.ts';
import { issueOneTimeLink, PAGE_LINK_MS } from '../../page/page-sessions.ts';
import { issueRegistrationCode, REGISTRATION_CODE_MS } from '../../presence/registration-codes.ts';
import { requireSoleLocalhostListener } from '../../presence/require-sole-localhost-listener.ts';
import { relyingPartyOf } from '../../presence/relying-party.ts';
import { LOCAL_PRINCIPAL } from '../open-access-control.ts';
import { type CommandRecords, withRecords } from './with-records.ts';
import type { ServerSettings } from '../settings/settings.ts';

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
  { stateDir, database, tokens, oidc }: Pick<ServerSettings, 'stateDir' | 'database' | 'tokens' | 'oidc'>,
  { principal, atTerminal, say }: AddPasskeyOptions,
): Promise<void> {
  if (!atTerminal)
    throw new ProductError(
      'FORBIDDEN',
      'Run `a2a-server passkey add` yourself in a terminal. Its link must not reach a program or a model.',
    );
  const local = await readOrCreateTokenFile(stateDir);
  const configured =
    principal === LOCAL_PRINCIPAL ? local : tokens.find((each) => each.principal === principal)?.token;
  await withRecords({ stateDir, database }, async (records, now) => {
    const user = await userOf(principal, { configured, oidc, records, now });
    const token = user.type === 'configured' ? user.token : local;
    const link = await serverLink(stateDir, { local, token });
    const party = relyingPartyOf(link.origin + link.pathname.replace(/\/page$/, ''));
    if (party.type === 'unusable') throw new ProductError('CONFIGURATION', party.problem);
    // A browser never sends the fragment, so no log contains the two codes.
    const codes = new URLSearchParams(link.hash.slice(1));
    // The code in the link signs in as the owner of `token`, so another user must not get it. A user of the provider
    // signs in at the provider.
    if (user.type !== 'configured') codes.delete('code');
    if (user.type === 'issued') codes.set('code', await codeOfIssued(records, user.token, now));
    codes.set('passkey', await issueRegistrationCode(records, principal, now));
    const url = new URL(`${party.base}/page`);
    url.hash = codes.toString();
    say(
      `Open this link within ${REGISTRATION_CODE_MS / 60_000} minutes in the browser that has or will get the passkey of ${principal}. It works once:\n${url.href}`,
    );
  });
}

type PasskeyUser =
  | { type: 'configured'; token: string }
  | { type: 'issued'; token: IssuedTokenRecord }
  /** The user signs in to the page with the OpenID Connect provider. */
  | { type: 'provided' };

/** @throws ProductError CONFIGURATION if there is no such user, or if the user must not register a passkey */
async function userOf(
  principal: string,
  {
    configured,
    oidc,
    records,
    now,
  }: { configured: string | undefined; oidc: ServerSettings['oidc']; records: CommandRecords; now: number },
): Promise<PasskeyUser> {
  if (configured !== undefined) return { type: 'configured', token: configured };
  const issued = await approvingToken(records, principal, now);
  if (issued !== undefined) return { type: 'issued', token: issued };
  if (oidc?.signIn !== undefined && mayComeFromProvider(principal, oidc)) return { type: 'provided' };
  throw new ProductError(
    'CONFIGURATION',
    `There is no user ${JSON.stringify(principal)} who can register a passkey. Name the user ${LOCAL_PRINCIPAL}, a user of the setting "tokens", a user with a valid token of \`a2a-server token create\` that has the role approve (\`a2a-server token list\`), or a user who signs in to the page with the OpenID Connect provider, as tenant/name.`,
  );
}

/**
 * Asks the running server for a link to the page, and returns it. The link signs in as the owner of `token`. If the
 * user has no configured token, `token` is the local token. The caller then removes the link's code, and uses only its
 * address.
 */
async function serverLink(
  stateDir: string,
  { local, token }: { local: string; token: string },
): Promise<URL> {
  const record = await readServerRecord(stateDir);
  const proof = record === undefined ? undefined : await requestServerProof(record.url, local, TIMEOUT_MS);
  if (record === undefined || proof?.type !== 'proven')
    throw new ProductError(
      'CONFIGURATION',
      `No server of the state directory ${stateDir} runs. Start it first, e.g. with \`mcp-a2a-bridge server start\`.`,
    );
  await requireSoleLocalhostListener(record.url);
  return signInLink(record.url, token);
}

/**
 * Returns a valid issued token of the user with the role that a passkey needs. Of several such tokens, it returns the
 * token with the latest expiry.
 */
async function approvingToken(
  records: CommandRecords,
  principal: string,
  now: number,
): Promise<IssuedTokenRecord | undefined> {
  const [longest] = (await createTokenStore(records).list())
    .filter(
      (token) =>
        identityOfTokenRecord(token).principal === principal &&
        token.roles.includes('approve') &&
        issuedTokenState(token, now) === 'active',
    )
    // Number.MAX_VALUE stands for no end, because the difference of two infinities is not a number.
    .toSorted(
      (one, other) => (expiryOfToken(other) ?? Number.MAX_VALUE) - (expiryOfToken(one) ?? Number.MAX_VALUE),
    );
  return longest;
}

/**
 * Creates the code that signs the browser in as the user of an issued token. The server creates such a code only for a
 * request with the token itself, and the text of an issued token is not stored. So this command writes the code to the
 * records. The browser's session ends when the token ends.
 */
async function codeOfIssued(records: CommandRecords, token: IssuedTokenRecord, now: number): Promise<string> {
  const { principal } = identityOfTokenRecord(token);
  const links = createPageAccessStore(records, 'page-links', () => now);
  const access = { principal, tokenId: token.id, tokens: token.digest, expiresAt: now + PAGE_LINK_MS };
  return (await issueOneTimeLink(links, access)).code;
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
    throw new ProductError('AGENT_ERROR', `The server gave no link: ${errorMessageOf(error)}.`, {
      cause: error,
    });
  }
}
