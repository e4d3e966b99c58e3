/**
 * The roles of tokens: the actions that a token allows its principal. Each route needs one of several roles. Every role
 * includes reading the principal's own tasks.
 *
 * - `delegate` begins tasks, sends messages, and cancels.
 * - `approve` decides: approve, deny, edit, answer, revoke a grant.
 * - `operate` stops work: cancels tasks and aborts tools. It also retries receivers of push notifications.
 * - `read` only reads.
 */
import { z } from 'zod';
import { ProductError } from '../../shared/runtime/errors.ts';

export const ROLES = ['delegate', 'approve', 'operate', 'read'] as const;
export const roleSchema = z.enum(ROLES);
export type Role = z.infer<typeof roleSchema>;

/**
 * The roles that may send a message. The content of a message decides which of these roles its sender needs
 * (`../http/auth/permitted-message.ts`).
 */
export const SENDING_ROLES: readonly Role[] = ['delegate', 'approve'];

/** Checks that the token has at least one of the needed roles. @throws ProductError FORBIDDEN */
export function requireRole(held: readonly Role[], needed: readonly Role[]): void {
  if (needed.some((role) => held.includes(role))) return;
  throw new ProductError(
    'FORBIDDEN',
    `${needText(needed)}; your token has ${held.join(', ') || 'none'}. Nothing was changed.`,
    { facts: { needed: needed.join(','), held: held.join(',') } },
  );
}

function needText(needed: readonly Role[]): string {
  return needed === SENDING_ROLES
    ? 'A message to the agent needs the role delegate, and a decision needs the role approve'
    : `This needs the role ${needed.join(' or ')}`;
}
