/**
 * Signs agent cards, and checks their signatures (A2A 1.0 §8.4). A signature is a JWS (RFC 7515) over the canonical JSON of
 * the card (RFC 8785). The caller decides which keys it trusts. No key comes from the card. `jose` loads on demand, because
 * most programs sign and check no card.
 */
import { AgentCard, canonicalizeAgentCard } from '@a2a-js/sdk';
import { createPublicKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';

/** Limits the work that a hostile card can cause. */
const MAX_SIGNATURES = 10;

/**
 * Returns the JWS algorithm of a key. Each key has one algorithm, so a signer cannot choose a weaker one. Undefined for
 * a key that cannot sign cards.
 */
export function cardAlgorithm(key: KeyObject): 'EdDSA' | 'ES256' | 'PS256' | undefined {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details = {} } = key;
  if (type === 'ed25519') return 'EdDSA';
  if (type === 'ec') return details.namedCurve === 'prime256v1' ? 'ES256' : undefined;
  // RFC 7518 §3.5: a key of 2048 bits or larger.
  return type === 'rsa' && (details.modulusLength ?? 0) >= 2048 ? 'PS256' : undefined;
}

/**
 * Returns the card with one more signature. The key id is the thumbprint of the public key (RFC 7638).
 * @throws Error for a key without an algorithm, see `cardAlgorithm`
 */
export async function signCard(card: AgentCard, privateKey: KeyObject): Promise<AgentCard> {
  const alg = cardAlgorithm(privateKey);
  if (alg === undefined) throw new Error('this type of key cannot sign agent cards');
  const { calculateJwkThumbprint, exportJWK, FlattenedSign } = await import('jose');
  const kid = await calculateJwkThumbprint(await exportJWK(createPublicKey(privateKey)));
  const signed = await new FlattenedSign(signedBytes(card))
    .setProtectedHeader({ alg, typ: 'JOSE', kid })
    .sign(privateKey);
  const signature = { protected: signed.protected ?? '', signature: signed.signature, header: undefined };
  return { ...card, signatures: [...card.signatures, signature] };
}

/**
 * Checks that one of the trusted keys has signed the card. Ignores `jku` and `kid`, because the signer chooses them.
 * @param received the JSON of the card as the agent sent it
 * @returns the signed fields of the card; undefined if no trusted key has signed it
 */
export async function verifiedCard(
  received: unknown,
  trusted: readonly KeyObject[],
): Promise<AgentCard | undefined> {
  try {
    const { base64url } = await import('jose');
    // Fields outside the schema are not signed. So they are removed here.
    const card = AgentCard.fromJSON(received);
    const payload = base64url.encode(signedBytes(card));
    for (const { protected: header, signature } of card.signatures.slice(0, MAX_SIGNATURES))
      for (const key of trusted)
        if (await isSigned({ payload, protected: header, signature }, key)) return card;
  } catch {
    // A card of another shape is not signed.
  }
  return undefined;
}

async function isSigned(
  jws: { payload: string; protected: string; signature: string },
  key: KeyObject,
): Promise<boolean> {
  const alg = cardAlgorithm(key);
  if (alg === undefined) return false;
  const { flattenedVerify } = await import('jose');
  return flattenedVerify(jws, key, { algorithms: [alg] }).then(
    () => true,
    () => false,
  );
}

/** `canonicalizeAgentCard` needs the JSON form, but its type is that of the form in memory. So this checks nothing. */
const jsonForm = z.custom<AgentCard>();

/** Returns the bytes that a signature covers. From the form in memory, the SDK would leave out the security schemes. */
function signedBytes(card: AgentCard): Uint8Array {
  return new TextEncoder().encode(canonicalizeAgentCard(jsonForm.parse(AgentCard.toJSON(card))));
}
