/**
 * Signs push notifications, so that a receiver knows who sent them. A signature is a JWT (RFC 7519) with the claims of
 * the A2A project's samples: `iat`, and `request_body_sha256` in hexadecimal. `aud` is the address of the receiver, so
 * a receiver cannot pass a notification on to another one. `jose` loads with the first signature.
 */
import { createPublicKey, type KeyObject, randomUUID } from 'node:crypto';
import type { JSONWebKeySet } from 'jose';
import type { Clock } from '../../shared/runtime/clock.ts';
import { sha256 } from '../../shared/runtime/sha256.ts';
import { currentPushKey, publicPushKeys, type PushKeys, SIGNATURE_LIFETIME_S } from './push-keys.ts';

const ALGORITHM = 'EdDSA';

export interface NotificationSigner {
  /** Returns the signature. @param post `url` is the address of the receiver */
  sign(post: { url: string; taskId: string; body: string }): Promise<string>;
  /** Returns the public keys, with which a receiver checks the signatures (RFC 7517). */
  publicKeys(): Promise<JSONWebKeySet>;
}

/** @param issuer the public URL of the server */
export function createNotificationSigner({
  issuer,
  keys,
  clock,
}: {
  issuer: string;
  keys: () => Promise<PushKeys>;
  clock: Pick<Clock, 'now'>;
}): NotificationSigner {
  return {
    async sign({ url, taskId, body }) {
      const [{ SignJWT }, known] = await Promise.all([import('jose'), keys()]);
      const now = clock.now();
      const key = currentPushKey(known, now);
      const issuedAt = Math.floor(now / 1000);
      return new SignJWT({ taskId, request_body_sha256: sha256(body) })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', kid: await keyId(createPublicKey(key)) })
        .setIssuer(issuer)
        .setAudience(url)
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + SIGNATURE_LIFETIME_S)
        .setJti(randomUUID())
        .sign(key);
    },
    async publicKeys() {
      const [{ exportJWK }, known] = await Promise.all([import('jose'), keys()]);
      const jwk = async (key: KeyObject) => ({
        ...(await exportJWK(key)),
        alg: ALGORITHM,
        use: 'sig',
        kid: await keyId(key),
      });
      return { keys: await Promise.all(publicPushKeys(known, clock.now()).map(jwk)) };
    },
  };
}

/** Returns the thumbprint of the public key (RFC 7638). */
async function keyId(publicKey: KeyObject): Promise<string> {
  const { calculateJwkThumbprint, exportJWK } = await import('jose');
  return calculateJwkThumbprint(await exportJWK(publicKey));
}
