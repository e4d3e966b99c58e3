/**
 * The Ed25519 keys that sign push notifications, and their rotation. Pure.
 *
 * Receivers may keep the published keys for `JWKS_MAX_AGE_S`. So a new key is published before it signs, and an old key
 * is published until its last signature has expired.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { z } from 'zod';

/** The time for which a receiver must accept a signature, in seconds. Each attempt has a new signature. */
export const SIGNATURE_LIFETIME_S = 300;
/** The time for which a receiver may keep the published keys, in seconds. */
export const JWKS_MAX_AGE_S = 300;

/** The reserve in the two times below, for clocks that differ, and for servers that read the new keys later. */
const RESERVE_MS = 5 * 60_000;
const PUBLISHED_BEFORE_MS = JWKS_MAX_AGE_S * 1000 + RESERVE_MS;
const PUBLISHED_AFTER_MS = SIGNATURE_LIFETIME_S * 1000 + RESERVE_MS;

/** The schema of a key. `from` is the time of its first signature, in milliseconds since 1970. */
const key = z.object({
  pem: z.string().refine(isSigningKey, 'expected a private Ed25519 key'),
  from: z.number(),
});

/** The keys in the order of their use. Each key signs until the next one begins to sign. */
export const pushKeysSchema = z.tuple([key], key);
export type PushKeys = z.infer<typeof pushKeysSchema>;

/** Returns one new key, which signs from now on. */
export function newPushKeys(): PushKeys {
  return [{ pem: newPem(), from: 0 }];
}

/**
 * Adds a new key, which signs from the time `from` on. Removes the keys that no receiver needs any more. The key that
 * signs before `from` stays published until `oldUntil`.
 */
export function pushKeyRotation(
  keys: PushKeys,
  now: number,
): { keys: PushKeys; from: number; oldUntil: number } {
  const from = now + PUBLISHED_BEFORE_MS;
  const [first, ...others] = publishedKeys(keys, now);
  return { keys: [first, ...others, { pem: newPem(), from }], from, oldUntil: from + PUBLISHED_AFTER_MS };
}

/** Returns the key that signs now. */
export function currentPushKey(keys: PushKeys, now: number): KeyObject {
  const [first] = keys;
  return createPrivateKey((keys.findLast(({ from }) => from <= now) ?? first).pem);
}

/** Returns the public keys that a receiver may need now or soon. */
export function publicPushKeys(keys: PushKeys, now: number): KeyObject[] {
  return publishedKeys(keys, now).map((each) => createPublicKey(each.pem));
}

function publishedKeys(keys: PushKeys, now: number): PushKeys {
  const [first, ...others] = keys;
  const [next] = others;
  if (next === undefined || next.from + PUBLISHED_AFTER_MS > now) return [first, ...others];
  return publishedKeys([next, ...others.slice(1)], now);
}

function newPem(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
}

function isSigningKey(text: string): boolean {
  try {
    return createPrivateKey(text).asymmetricKeyType === 'ed25519';
  } catch {
    return false;
  }
}
