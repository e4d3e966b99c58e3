/** `a2a-server token create`, `token list` and `token revoke`. The server may be running. */
import { z } from 'zod';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { inGroupsText } from '../../../shared/protocol/demanded-approver.ts';
import { DURATION_ALLOWED, durationSchema } from '../../runtime/duration.ts';
import { identityOfTokenRecord } from '../../access/identity.ts';
import { type IssuedTokenRecord, makeToken, issuedTokenState } from '../../access/issued-token.ts';
import { fullPrincipalName, IDENTITY_NAME_PATTERN } from '../../access/requester.ts';
import { type AuditLog, createAuditLog } from '../../audit/audit-log.ts';
import { ROLES, roleSchema } from '../../access/role.ts';
import { type TokenStore, createTokenStore } from '../../access/token-store.ts';
import type { CommandOutput } from './command-output.ts';
import type { RecordStorePlace } from '../settings/read-settings.ts';
import { withRecords } from './with-records.ts';

export interface NewToken {
  name: string;
  tenant?: string;
  /** The values of `--role`. Each has one role, or several, separated by commas. */
  role: readonly string[];
  group?: readonly string[];
  /** The lifetime of the token: a duration, or `never`. */
  expires: string;
}

/**
 * Creates a token and prints it. Only its text goes to standard output, so that a script can store it.
 * @throws ProductError MALFORMED for a wrong name, role, group or duration, STORAGE
 */
export async function createToken(
  place: RecordStorePlace,
  { name, tenant, role, group = [], expires }: NewToken,
  { say, note }: CommandOutput,
): Promise<void> {
  for (const [flag, text] of [
    ['--name', name],
    ['--tenant', tenant],
    ...group.map((each) => ['--group', each] as const),
  ] as const)
    if (text !== undefined && !IDENTITY_NAME_PATTERN.test(text))
      throw new ProductError('MALFORMED', `${flag} takes 1 to 100 letters, digits and . _ @ -`);
  const roles = z.array(roleSchema).safeParse([...new Set(role.flatMap((each) => each.split(',')))]);
  if (!roles.success)
    throw new ProductError(
      'MALFORMED',
      `--role takes one or more of ${ROLES.join(', ')}, separated by commas.`,
    );
  const lifetime = durationSchema.safeParse(expires);
  if (!lifetime.success) throw new ProductError('MALFORMED', `--expires takes ${DURATION_ALLOWED}.`);
  const { text, token } = await withTokens(place, async (tokens, audit, now) => {
    const made = makeToken(
      {
        principal: name,
        ...(tenant !== undefined && { tenant }),
        roles: roles.data,
        groups: [...new Set(group)],
        lifetimeMs: lifetime.data,
      },
      now,
    );
    const { id: tokenId, expiresAt } = made.token;
    const { principal } = identityOfTokenRecord(made.token);
    // The audit record comes first. If it cannot be written, no token is created.
    await audit.append(
      {
        act: 'token.created',
        tokenId,
        principal,
        roles: made.token.roles,
        ...(made.token.groups && { groups: made.token.groups }),
        expiresAt,
      },
      now,
    );
    await tokens.add(made.token);
    return made;
  });
  note(
    `Token ${token.id} stands for ${identityOfTokenRecord(token).principal}, with the ${roles.data.length === 1 ? 'role' : 'roles'} ${roles.data.join(', ')}${token.groups === undefined ? '' : `, ${inGroupsText(token.groups)}`}. ${token.expiresAt === null ? 'It does not expire' : `It expires at ${token.expiresAt}`}. It is shown only now:`,
  );
  say(text);
}

/** Prints all tokens, without their secrets. @throws ProductError STORAGE */
export async function printTokens(
  place: RecordStorePlace,
  json: boolean,
  { say, sayJson, note }: CommandOutput,
): Promise<void> {
  const tokens = await withTokens(place, async (store, _audit, now) =>
    (await store.list()).map((token) => tokenView(token, now)),
  );
  if (json) return sayJson({ tokens });
  if (tokens.length === 0) return note('There are no issued tokens.');
  for (const { id, name, tenant, roles, groups, state, createdAt, expiresAt } of tokens)
    say(
      `${id}  ${fullPrincipalName(name, tenant)}  ${roles.join(',')}${groups === undefined ? '' : `  ${inGroupsText(groups)}`}  ${state}  created ${createdAt}  expires ${expiresAt ?? 'never'}`,
    );
}

/** Revokes a token. @throws ProductError MALFORMED if there is no such token, STORAGE */
export async function revokeToken(
  place: RecordStorePlace,
  id: string,
  { say }: CommandOutput,
): Promise<void> {
  const token = await withTokens(place, async (tokens, audit, now) => {
    const before = await tokens.read(id);
    const revoked = await tokens.revoke(id, now);
    // A full disk must not prevent a revocation, so the audit record comes second.
    if (revoked !== undefined && before?.revokedAt === null)
      await audit.append(
        { act: 'token.revoked', tokenId: id, principal: identityOfTokenRecord(revoked).principal },
        now,
      );
    return revoked;
  });
  if (token === undefined)
    throw new ProductError(
      'MALFORMED',
      `There is no token ${JSON.stringify(id)}. \`a2a-server token list\` lists them.`,
    );
  say(
    `Token ${token.id} of ${identityOfTokenRecord(token).principal} is revoked since ${token.revokedAt ?? ''}.`,
  );
}

function withTokens<Result>(
  place: RecordStorePlace,
  act: (tokens: TokenStore, audit: AuditLog, now: number) => Promise<Result>,
): Promise<Result> {
  return withRecords(place, (records, now) => act(createTokenStore(records), createAuditLog(records), now));
}

function tokenView(token: IssuedTokenRecord, now: number) {
  const { id, principal, tenant, roles, groups, createdAt, expiresAt, revokedAt } = token;
  return {
    id,
    name: principal,
    ...(tenant !== undefined && { tenant }),
    roles,
    ...(groups && { groups }),
    state: issuedTokenState(token, now),
    createdAt,
    expiresAt,
    revokedAt,
  };
}
