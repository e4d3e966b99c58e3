/**
 * Opens what decides who sent a request: tokens, stream tickets, the page's sessions, and the OpenID Connect provider.
 */
import { serverRunCredential } from '../../shared/net/server-proof.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { ServerRecord } from '../../shared/state/server-record.ts';
import { openIssuedTokenReader } from '../access/issued-token-reader.ts';
import { createJwtAuthenticator, type AuthenticateJwt } from '../access/oidc-tokens.ts';
import { createStreamTickets, obtainTicketSecret } from '../http/auth/stream-ticket.ts';
import { createAuthenticator } from '../http/auth/tokens.ts';
import { pageCookieAttributes } from '../page/page-request-secrets.ts';
import { createPageSessions } from '../page/page-sessions.ts';
import { createProviderSignIn } from '../page/provider-sign-in.ts';
import type { ProviderSignInContext } from '../page/provider-sign-in-routes.ts';
import type { AppOptions } from './app.ts';
import type { OpenedServer } from './prepare-server.ts';

/** The principal whose token is in the state directory. */
export const LOCAL_PRINCIPAL = 'local';

type AccessControl = Required<
  Pick<AppOptions, 'authenticate' | 'issued' | 'identity' | 'tickets' | 'pageSignIn'>
> &
  Pick<AppOptions, 'pageProvider'>;

interface AccessParts extends Pick<OpenedServer, 'settings' | 'token' | 'records' | 'journal' | 'log'> {
  record: ServerRecord;
  /** The server's URL for browsers, without a final slash. */
  base: string;
  clock: Clock;
}

/** Returns the access control, and a function that stops its listeners for changed records. */
export async function openAccessControl(
  parts: AccessParts,
): Promise<{ access: AccessControl; close: () => void }> {
  const { settings, token, record, base, records, journal, clock, log } = parts;
  const onFailure = (error: unknown): void =>
    log.error({ err: error }, 'an issued token or a sign-in of the page could not be read');
  const credentials = [{ principal: LOCAL_PRINCIPAL, token }, ...settings.tokens];
  const issued = openIssuedTokenReader({ records, clock, onFailure });
  const sessions = createPageSessions({
    credentials,
    issued,
    provider: settings.oidc,
    clock,
    records,
    onFailure,
  });
  const secret = await obtainTicketSecret(token, journal.records);
  const pageProvider = openPageProvider(parts, secret);
  const access: AccessControl = {
    authenticate: createAuthenticator(
      [...credentials, { principal: LOCAL_PRINCIPAL, token: serverRunCredential(token, record) }],
      issued,
      openVerifier(parts),
    ),
    issued,
    identity: { token, run: record },
    tickets: createStreamTickets({ secret, credentials, now: () => clock.now(), issued }),
    pageSignIn: { sessions, cookie: pageCookieAttributes(base, secret), base },
    ...(pageProvider && { pageProvider }),
  };
  const close = (): void => {
    issued.close();
    sessions.close();
  };
  return { access, close };
}

function openVerifier({ settings: { oidc }, clock, log }: AccessParts): AuthenticateJwt | undefined {
  const onRefusal = (reason: string): void =>
    log.info({ reason }, 'a token of the OpenID Connect provider is refused');
  return oidc && createJwtAuthenticator({ settings: oidc, clock, onRefusal });
}

/** Returns undefined if the page offers no sign-in with a provider. */
function openPageProvider(
  { settings, base, clock, log }: AccessParts,
  secret: string,
): ProviderSignInContext | undefined {
  const { oidc } = settings;
  if (oidc?.signIn === undefined) return undefined;
  const signIn = createProviderSignIn({
    settings: oidc,
    signIn: oidc.signIn,
    base,
    env: process.env,
    clock,
    log,
  });
  const { redirectUri } = signIn;
  log.info({ redirectUri }, 'the page offers a sign-in; the provider must know this URI');
  return { signIn, secret, clock };
}
