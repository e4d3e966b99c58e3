import { describe, expect, it } from '@jest/globals';
import { checkPresenceProof, proofProblem } from '../../../../shared/presence/check-presence-proof.ts';
import {
  presenceChallengeOf,
  provesDecision,
  type PresenceProof,
  type PresenceStatement,
} from '../../../../shared/presence/presence-proof.ts';
import { PRESENCE_STATEMENT } from '../../../support/presence-samples.ts';
import { SoftwarePasskey } from '../../../support/software-passkey.ts';

const STATEMENT: PresenceStatement = { ...PRESENCE_STATEMENT, basis: 'bb' };
const CLAIMS = { origin: 'http://localhost:1234', rpId: 'localhost' };
const passkey = new SoftwarePasskey();

/** The bytes of the two coordinates in the COSE key of a software passkey. */
const COORDINATES = [
  ...Array.from({ length: 32 }, (_, at) => 10 + at),
  ...Array.from({ length: 32 }, (_, at) => 45 + at),
];

type Claims = Parameters<SoftwarePasskey['assert']>[1];

function proofOf(claims: Partial<Claims> = {}, signer = passkey): PresenceProof {
  return {
    statement: STATEMENT,
    ...CLAIMS,
    passkey: { name: 'laptop', publicKey: passkey.publicKey, registeredAt: '2026-01-01T00:00:00.000Z' },
    assertion: signer.assert(presenceChallengeOf(STATEMENT), { ...CLAIMS, ...claims }),
  };
}

describe('the proof of presence', () => {
  it('an assertion over the statement is valid, and returns the signature counter', async () => {
    expect(await checkPresenceProof(proofOf({ count: 7 }), 6)).toBe(7);
  });

  it.each<[string, Partial<Claims>, RegExp]>([
    ['without user presence', { present: false }, /not present/],
    ['without user verification', { verified: false }, /could not be verified/],
    ['from another origin', { origin: 'http://localhost:1' }, /origin/],
    ['from 127.0.0.1', { origin: 'http://127.0.0.1:1234' }, /origin/],
    ['of another relying party', { rpId: 'example.com' }, /RP ID/i],
    ['from a frame of another site', { crossOrigin: true }, /frame/],
    ['of a registration', { type: 'webauthn.create' }, /type/],
  ])('an assertion %s is not valid', async (_, claims, problem) => {
    expect(await proofProblem(proofOf(claims))).toMatch(problem);
  });

  it('an assertion of another passkey, or with an old counter, is not valid', async () => {
    const other = proofOf({}, new SoftwarePasskey());
    expect(await proofProblem({ ...other, assertion: { ...other.assertion, id: passkey.id } })).toMatch(
      /signature/,
    );
    await expect(checkPresenceProof(proofOf({ count: 7 }), 7)).rejects.toThrow(/counter/);
  });

  it('each changed field of the statement makes the proof invalid', async () => {
    const proof = proofOf();
    for (const field of Object.keys(STATEMENT)) {
      const statement = { ...STATEMENT, [field]: 'changed' };
      expect(await proofProblem({ ...proof, statement })).toMatch(/challenge/);
    }
  });

  it('each changed byte of the signed data, the signature or the public key makes the proof invalid', async () => {
    const proof = proofOf();
    for (const field of ['authenticatorData', 'clientDataJSON', 'signature'] as const) {
      const text = proof.assertion[field];
      for (let at = 0; at < Buffer.from(text, 'base64url').length; at += 1) {
        // These bytes frame the two numbers of the signature. The receipt's own signature covers them.
        if (field === 'signature' && framing(text).includes(at)) continue;
        const assertion = { ...proof.assertion, [field]: flipped(text, at) };
        expect([field, at, await proofProblem({ ...proof, assertion })]).not.toEqual([field, at, undefined]);
      }
      const assertion = { ...proof.assertion, [field]: `${text.slice(0, -1)}${otherSpelling(text)}` };
      expect(await proofProblem({ ...proof, assertion })).toBeDefined();
    }
    const { publicKey } = proof.passkey;
    for (const at of COORDINATES) {
      const changed = { ...proof.passkey, publicKey: flipped(publicKey, at) };
      expect(await proofProblem({ ...proof, passkey: changed })).toBeDefined();
    }
  });

  it('a proof is about one decision only', () => {
    const { presence: _, nonce: _nonce, expiresAt: _until, ...decision } = STATEMENT;
    expect(provesDecision(proofOf(), decision)).toBe(true);
    expect(provesDecision(proofOf(), { ...decision, callId: 'call-2' })).toBe(false);
    expect(provesDecision(proofOf(), { ...decision, basis: null })).toBe(false);
    const edited = { inputHash: 'cc', basis: null };
    expect(provesDecision(proofOf(), { ...decision, decision: 'edit', edited })).toBe(false);
  });
});

function flipped(text: string, at: number): string {
  const bytes = Buffer.from(text, 'base64url');
  bytes.writeUInt8(bytes.readUInt8(at) ^ 0x01, at);
  return bytes.toString('base64url');
}

/** Returns the positions of the DER tags and lengths of an ECDSA signature (RFC 3279 §2.2.3). */
function framing(signature: string): number[] {
  const second = 4 + Buffer.from(signature, 'base64url').readUInt8(3);
  return [0, 1, 2, 3, second, second + 1];
}

/** Returns another last character that base64url decoders may read as the same bytes. */
function otherSpelling(text: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return alphabet.charAt(alphabet.indexOf(text.slice(-1)) ^ 0x01);
}
