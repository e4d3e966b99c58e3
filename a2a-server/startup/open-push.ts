/** Opens the push notifications: the configurations of clients, and the keys that sign the notifications. */
import type { Clock } from '../../shared/runtime/clock.ts';
import { createCredentialFingerprints } from '../access/credential-fingerprints.ts';
import type { IssuedTokenReader } from '../access/issued-token-reader.ts';
import { createPushBodyBuilder } from '../http/push/push-body-builder.ts';
import type { PushPostParts } from '../push/next-posts.ts';
import { type NotificationSigner, createNotificationSigner } from '../push/notification-signer.ts';
import { PushConfigurations } from '../push/push-configurations.ts';
import { createPushKeysReader } from '../push/stored-push-keys.ts';
import { createHostAllowList } from '../tools/web/allowed-hosts.ts';
import { resolveHostBySystem } from '../tools/web/resolve-checked-host.ts';
import type { OpenedServer } from './prepare-server.ts';

interface PushParts extends Pick<
  OpenedServer,
  'settings' | 'journal' | 'records' | 'log' | 'audited' | 'telemetry'
> {
  tasks: PushPostParts['tasks'];
  /** The server's URL for clients, without a final slash. */
  base: string;
  clock: Clock;
  issued: Pick<IssuedTokenReader, 'isRevoked'>;
}

/** Opens the push notifications. The deliveries begin only with `PushConfigurations.start`. */
export function openPushNotifications({
  settings,
  tasks,
  journal,
  records,
  base,
  clock,
  log,
  audited,
  issued,
  telemetry,
}: PushParts): {
  push: PushConfigurations;
  pushKeys: NotificationSigner;
} {
  const signer = createNotificationSigner({
    issuer: base,
    keys: createPushKeysReader(records, clock),
    clock,
  });
  const push = new PushConfigurations({
    bodies: createPushBodyBuilder({ base, draftProtocols: settings.preview }),
    signer,
    records,
    tasks,
    journal,
    clock,
    log,
    addresses: { allowed: createHostAllowList(settings.allowPrivateHost), resolve: resolveHostBySystem },
    isRevoked: issued.isRevoked,
    // The token in the state directory has no fingerprint, because servers that share a database have different tokens
    // there.
    fingerprintOf: createCredentialFingerprints({
      credentials: settings.tokens,
      provider: settings.oidc,
      purpose: 'push notifications',
    }),
    shared: settings.database !== undefined,
    audited,
    env: process.env,
    onResult: (result) => telemetry.metrics?.pushed(result),
  });
  return { push, pushKeys: signer };
}
