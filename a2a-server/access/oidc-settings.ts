/** The settings of an OpenID Connect provider whose tokens the server accepts, and the rules from claims to access. */
import { z } from 'zod';
import { isLoopback } from '../../shared/net/loopback.ts';
import { clientSecretSourceSchema } from './client-secret.ts';
import { fullPrincipalName, IDENTITY_NAME_PATTERN, PRINCIPAL_PATTERN, tenantOf } from './requester.ts';
import { roleSchema, type Role } from './role.ts';

/**
 * The allowed signature algorithms. They use a key pair, so the server needs only the provider's public key. The
 * settings cannot choose `none` or an HMAC algorithm.
 */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'EdDSA'] as const;

const MAX_CLOCK_SKEW_S = 60;

/** The client authentication methods with a secret (OpenID Connect Core 1.0 §9). */
const CLIENT_AUTHENTICATION = ['client_secret_basic', 'client_secret_post'] as const;

/** The characters of a scope (RFC 6749 §3.3). */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/;

/** A page session after a sign-in with the provider lasts at most one day, like every other page session. */
const MAX_SESSION_MINUTES = 24 * 60;

const claim = z.string().min(1).max(200);

const issuer = z.url().refine((text) => {
  const { protocol, hostname, search, hash } = new URL(text);
  const secure = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
  return secure && search === '' && hash === '';
}, 'an issuer is an https URL without a query; http only on a loopback address');

export const oidcSchema = z
  .strictObject({
    /** The value of the claim `iss`. The configuration of the provider is below this URL. */
    issuer,
    /** The value that the claim `aud` must contain. */
    audience: z.string().min(1).max(500),
    /** The accepted signature algorithms. */
    algorithms: z.array(z.enum(ALGORITHMS)).min(1).default(['RS256']),
    /** The largest accepted difference between the clocks of the provider and this server, in seconds. */
    clockSkew: z.number().int().min(0).max(MAX_CLOCK_SKEW_S).default(5),
    /** The claim with the name of the principal. */
    principalClaim: claim.default('sub'),
    /** The tenant of all principals: a fixed name, or `{"claim": "team"}` if a claim names the tenant. */
    tenant: z.union([z.string().regex(IDENTITY_NAME_PATTERN), z.strictObject({ claim })]),
    /** Rules that give roles. A rule applies if the claim equals the value, or is a list that contains it. */
    roles: z
      .array(z.strictObject({ claim, value: z.string().min(1), roles: z.array(roleSchema).min(1) }))
      .min(1),
    /** Rules that give groups. A rule applies if the claim equals the value, or is a list that contains it. */
    groups: z
      .array(
        z.strictObject({
          claim,
          value: z.string().min(1),
          groups: z.array(z.string().regex(IDENTITY_NAME_PATTERN)).min(1),
        }),
      )
      .default([]),
    /**
     * The sign-in to the approval page with the provider. Without this setting, the page offers no such sign-in. Needs
     * `publicUrl`.
     */
    signIn: z
      .strictObject({
        /** The OAuth client id of the page at the provider. The redirect URI of this client is `<publicUrl>/page`. */
        clientId: z.string().min(1).max(500),
        /**
         * The secret of a confidential client: `{"env": "NAME"}`, `{"file": "/path"}` or `{"command": ["program",
         * "argument"]}`. A public client has none.
         */
        clientSecret: clientSecretSourceSchema.optional(),
        /** How the client sends its secret. */
        clientAuthentication: z.enum(CLIENT_AUTHENTICATION).default('client_secret_basic'),
        /**
         * The requested scopes. By default `openid profile email`, and each claim of these settings that the provider
         * offers as a scope.
         */
        scopes: z
          .array(z.string().regex(SCOPE))
          .refine((scopes) => scopes.includes('openid'), 'the scope openid is missing')
          .optional(),
        /** The name of the provider on the page. By default, the host of the issuer. */
        name: z.string().trim().min(1).max(60).optional(),
        /** The length of a session of the page, in minutes. After it, a new sign-in with the provider is needed. */
        sessionMinutes: z.number().int().min(5).max(MAX_SESSION_MINUTES).default(60),
      })
      .optional(),
  })
  .optional();
export type OidcSettings = NonNullable<z.output<typeof oidcSchema>>;
export type SignInSettings = NonNullable<OidcSettings['signIn']>;

/** Returns the address of the provider's configuration (OpenID Connect Discovery 1.0 §4). */
export function openIdConnectUrl(issuerUrl: string): string {
  return `${issuerUrl.replace(/\/$/, '')}/.well-known/openid-configuration`;
}

/** Returns the name of the provider for a person. */
export function providerName({ issuer: issuerUrl, signIn }: OidcSettings): string {
  return signIn?.name ?? new URL(issuerUrl).host;
}

/**
 * Returns the scopes of the sign-in. A provider may offer a claim as a scope of the same name, e.g. `groups`.
 * @param offered `scopes_supported` of the provider
 */
export function requestedScopes(settings: OidcSettings, offered: readonly string[] = []): string[] {
  const { signIn, principalClaim, tenant, roles, groups } = settings;
  if (signIn?.scopes !== undefined) return signIn.scopes;
  const claims = [
    principalClaim,
    ...(typeof tenant === 'string' ? [] : [tenant.claim]),
    ...[...roles, ...groups].map((rule) => rule.claim),
  ];
  return [...new Set(['openid', 'profile', 'email', ...claims.filter((name) => offered.includes(name))])];
}

interface GrantedAccess {
  /** The full name of the principal: `name`, or `tenant/name`. */
  principal: string;
  roles: Role[];
  groups: string[];
}

/** Applies the settings to verified claims. Returns undefined if the claims give no access. Pure. */
export function accessOfClaims(
  received: Readonly<Record<string, unknown>>,
  { principalClaim, tenant, roles: rules, groups: groupRules }: OidcSettings,
): GrantedAccess | undefined {
  const claims = withoutUnverifiedEmail(received);
  const name = nameIn(claims[principalClaim]);
  const team = typeof tenant === 'string' ? tenant : nameIn(claims[tenant.claim]);
  const given = rules.flatMap((rule) => (claimContains(claims[rule.claim], rule.value) ? rule.roles : []));
  if (name === undefined || team === undefined || given.length === 0) return undefined;
  const groups = groupRules.flatMap((rule) =>
    claimContains(claims[rule.claim], rule.value) ? rule.groups : [],
  );
  return {
    principal: fullPrincipalName(name, team),
    roles: [...new Set(given)],
    groups: [...new Set(groups)],
  };
}

/** True if the provider's claims could give access as this principal. Only the provider knows which users exist. */
export function mayComeFromProvider(principal: string, { tenant }: OidcSettings): boolean {
  const team = tenantOf(principal);
  return (
    team !== undefined && PRINCIPAL_PATTERN.test(principal) && (typeof tenant !== 'string' || tenant === team)
  );
}

/**
 * X1: removes the claim `email` if the provider says that the address is not verified, because the person may not own
 * it. Some providers write `email_verified` as text. Others omit it, and then `email` stays.
 */
function withoutUnverifiedEmail(
  claims: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const verified = claims['email_verified'];
  return verified === false || verified === 'false' ? { ...claims, email: undefined } : claims;
}

function nameIn(value: unknown): string | undefined {
  return typeof value === 'string' && IDENTITY_NAME_PATTERN.test(value) ? value : undefined;
}

/**
 * True if the claim equals or contains the wanted value. A text with spaces is a list, like `scope` (RFC 9068 §2.2.3).
 */
function claimContains(value: unknown, wanted: string): boolean {
  if (typeof value === 'string') return value === wanted || value.split(' ').includes(wanted);
  return Array.isArray(value) && value.includes(wanted);
}
