/**
 * Signs push notifications, so that a receiver knows who sent them. A signature is a JWT (RFC 7519) with the claims of the
 * A2A project's samples: `iat`, and `request_body_sha256` in hexadecimal. `aud` is the address of the receiver, so a
 * receiver cannot pass a notification on to another one. `jose` loads with the first signature.
 */
import { createHash, createPublicKey, type KeyObject, randomUUID } from 'node:crypto';
import type { JSONWebKeySet } from 'jose';
import type { Clock } from '../../shared/runtime/clock.ts';

const ALGORITHM = 'EdDSA';
/** A receiver must accept a signature for this time, in seconds. Each attempt has a new signature. */
const LIFETIME_S = 300;

export interface NotificationSigner {
  /** Returns the signature. @param post `url` is the address of the receiver */
  sign(post: { url: string; taskId: string; body: string }): Promise<string>;
  /** Returns the public key, with which a receiver checks the signatures (RFC 7517). */
  publicKeys(): Promise<JSONWebKeySet>;
}

/** @param issuer the public URL of the server */
export function notificationSigner({
  issuer,
  key,
  clock,
}: {
  issuer: string;
  key: () => Promise<KeyObject>;
  clock: Pick<Clock, 'now'>;
}): NotificationSigner {
  let read: Promise<KeyObject> | undefined;
  const privateKey = (): Promise<KeyObject> =>
    (read ??= key().catch((error: unknown) => {
      // After a failure, the next notification reads the key again.
      read = undefined;
      throw error;
    }));
  return {
    async sign({ url, taskId, body }) {
      const [{ SignJWT }, signing] = await Promise.all([import('jose'), privateKey()]);
      const now = Math.floor(clock.now() / 1000);
      return new SignJWT({ taskId, request_body_sha256: createHash('sha256').update(body).digest('hex') })
        .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', kid: await keyId(signing) })
        .setIssuer(issuer)
        .setAudience(url)
        .setIssuedAt(now)
        .setExpirationTime(now + LIFETIME_S)
        .setJti(randomUUID())
        .sign(signing);
    },
    async publicKeys() {
      const [{ exportJWK }, signing] = await Promise.all([import('jose'), privateKey()]);
      const jwk = await exportJWK(createPublicKey(signing));
      return { keys: [{ ...jwk, alg: ALGORITHM, use: 'sig', kid: await keyId(signing) }] };
    },
  };
}

/** Returns the thumbprint of the public key (RFC 7638). */
async function keyId(privateKey: KeyObject): Promise<string> {
  const { calculateJwkThumbprint, exportJWK } = await import('jose');
  return calculateJwkThumbprint(await exportJWK(createPublicKey(privateKey)));
}
