/**
 * Checks the WebAuthn assertion in a proof of presence: challenge, origin, relying party, user presence, user
 * verification and signature.
 */
import { errorMessageOf } from '../runtime/errors.ts';
import { fieldOf } from '../runtime/record.ts';
import { presenceChallengeOf, type PresenceProof } from './presence-proof.ts';

/**
 * Checks a proof of presence without the server that requested it (W3C WebAuthn Level 3 §7.2).
 * @param lastCount the passkey's signature counter at its last use. A passkey without a counter always has 0.
 * @returns the passkey's new signature counter
 * @throws Error that names the failed check
 */
export async function checkPresenceProof(
  { statement, rpId, origin, passkey, assertion }: PresenceProof,
  lastCount = 0,
): Promise<number> {
  const { id, ...response } = assertion;
  // An assertion from a frame of another site is refused, because such a site could hide what the person signs.
  if (fieldOf(clientDataOf(response.clientDataJSON), 'crossOrigin') === true)
    throw new Error('the assertion comes from a frame of another site');
  for (const text of Object.values(assertion)) refuseOtherSpelling(text);
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response },
    expectedChallenge: presenceChallengeOf(statement),
    expectedOrigin: origin,
    expectedRPID: rpId,
    credential: {
      id,
      publicKey: new Uint8Array(Buffer.from(passkey.publicKey, 'base64url')),
      counter: lastCount,
    },
    requireUserVerification: true,
  });
  if (!verified) throw new Error('the signature does not match the passkey');
  return authenticationInfo.newCounter;
}

/** Returns why a proof is invalid. Returns undefined for a valid proof. */
export async function proofProblem(proof: PresenceProof): Promise<string | undefined> {
  try {
    await checkPresenceProof(proof);
    return undefined;
  } catch (error) {
    return errorMessageOf(error);
  }
}

function clientDataOf(text: string): unknown {
  return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
}

/**
 * Throws if the text is not in canonical base64url. Several base64url texts can mean the same bytes. Only one of them
 * is accepted, so that a change of any character makes the proof invalid.
 */
function refuseOtherSpelling(text: string): void {
  if (Buffer.from(text, 'base64url').toString('base64url') !== text)
    throw new Error('the assertion is not in canonical base64url');
}
