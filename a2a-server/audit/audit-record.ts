/** One administrative action. A record contains no secret. */
import { z } from 'zod';

const principal = z.string();

const act = z.discriminatedUnion('act', [
  z.object({
    act: z.literal('token.created'),
    tokenId: z.string(),
    principal,
    roles: z.array(z.string()),
    groups: z.array(z.string()).optional(),
    expiresAt: z.string().nullable(),
  }),
  z.object({ act: z.literal('token.revoked'), tokenId: z.string(), principal }),
  z.object({
    act: z.enum(['server.started', 'server.reloaded']),
    version: z.string(),
    configuration: z.record(z.string(), z.unknown()),
  }),
  /** A person's decision that also covers later tool calls of its task. */
  z.object({
    act: z.literal('grant.given'),
    taskId: z.string(),
    callId: z.string(),
    tool: z.string(),
    scope: z.string(),
    principal,
    channel: z.string(),
  }),
  z.object({
    act: z.literal('grant.revoked'),
    taskId: z.string(),
    grantIds: z.array(z.string()),
    principal,
    channel: z.string(),
  }),
  z.object({
    act: z.enum(['passkey.registered', 'passkey.removed']),
    principal,
    name: z.string(),
    fingerprint: z.string(),
  }),
  /**
   * A retry of push notifications to a receiver that `principal` registered. `by` is the principal that asked for the
   * retry. `by` is absent if the operator asked with the command line.
   */
  z.object({
    act: z.literal('push.retried'),
    taskId: z.string(),
    receiver: z.string(),
    principal,
    by: principal.optional(),
  }),
  /** If `revoked` is true, signatures of the earlier keys are no longer valid. */
  z.object({ act: z.literal('push.key-rotated'), revoked: z.boolean() }),
]);
export type NewAuditRecord = z.infer<typeof act>;

/**
 * `at` is RFC 3339. `user` is the user of the operating system whose process wrote the record, and `host` is its machine.
 * Records of earlier versions have no host.
 */
export const auditRecordSchema = z
  .object({ at: z.string(), user: z.string(), host: z.string().optional() })
  .and(act);
export type AuditRecord = z.infer<typeof auditRecordSchema>;
