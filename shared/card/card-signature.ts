/**
 * Signs agent cards, and checks the signatures of agent cards (A2A 1.0 §8.4). A signature is a JWS (RFC 7515) over the
 * canonical JSON of the card (RFC 8785). The caller names the keys that it trusts. A key inside the card is never
 * trusted. `jose` is imported only when it is needed, because most programs neither sign nor check a card.
 */
import { AgentCard, canonicalizeAgentCard } from '@a2a-js/sdk';
import { createPublicKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';

/** The maximum number of signatures that are checked. A hostile card may contain many. */
const MAX_SIGNATURES = 10;

/**
 * Returns the JWS algorithm for a key. Each type of key has exactly one algorithm, so a signer cannot choose a weaker
 * one. Returns undefined for a key that cannot sign cards.
 */
export function cardSigningAlgorithm(key: KeyObject): 'EdDSA' | 'ES256' | 'PS256' | undefined {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details = {} } = key;
  if (type === 'ed25519') return 'EdDSA';
  if (type === 'ec') return details.namedCurve === 'prime256v1' ? 'ES256' : undefined;
  // RFC 7518 §3.5: PS256 requires a key of at least 2048 bits.
  return type === 'rsa' && (details.modulusLength ?? 0) >= 2048 ? 'PS256' : undefined;
}

/**
 * Returns the card with one more signature. The key id is the thumbprint of the public key (RFC 7638).
 * @throws Error for a key without an algorithm, see `cardSigningAlgorithm`
 */
export async function signCard(card: AgentCard, privateKey: KeyObject): Promise<AgentCard> {
  const alg = cardSigningAlgorithm(privateKey);
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
 * Checks that one of the trusted keys has signed the card. Ignores the `jku` and `kid` of a signature, because the
 * signer chooses them.
 * @param received the JSON of the card as the agent sent it
 * @returns the signed fields of the card; undefined if no trusted key has signed it
 */
export async function findVerifiedCard(
  received: unknown,
  trusted: readonly KeyObject[],
): Promise<AgentCard | undefined> {
  try {
    const { base64url } = await import('jose');
    // The signature does not cover fields outside the schema. `fromJSON` removes them.
    const card = AgentCard.fromJSON(received);
    const payload = base64url.encode(signedBytes(card));
    for (const { protected: header, signature } of card.signatures.slice(0, MAX_SIGNATURES))
      for (const key of trusted)
        if (await isSigned({ payload, protected: header, signature }, key)) return card;
  } catch {
    // JSON that is not an agent card has no valid signature.
  }
  return undefined;
}

async function isSigned(
  jws: { payload: string; protected: string; signature: string },
  key: KeyObject,
): Promise<boolean> {
  const alg = cardSigningAlgorithm(key);
  if (alg === undefined) return false;
  const { flattenedVerify } = await import('jose');
  return flattenedVerify(jws, key, { algorithms: [alg] }).then(
    () => true,
    () => false,
  );
}

/**
 * `canonicalizeAgentCard` reads the JSON form of a card, but its parameter has the type of the in-memory form. This
 * schema only changes the type, and checks nothing.
 */
const jsonForm = z.custom<AgentCard>();

/**
 * Returns the bytes that a signature covers. `canonicalizeAgentCard` omits the security schemes of a card in the
 * in-memory form. So it gets the JSON form.
 */
function signedBytes(card: AgentCard): Uint8Array {
  return new TextEncoder().encode(canonicalizeAgentCard(jsonForm.parse(AgentCard.toJSON(card))));
}
