import { describe, expect, it } from '@jest/globals';
import { presenceChallengeOf, type PresenceProof } from '../../../../shared/presence/presence-proof.ts';
import { checkPresenceProofs } from '../../../../shared/receipt/receipt-presence.ts';
import { PRESENCE_STATEMENT } from '../../../support/presence-samples.ts';
import { SoftwarePasskey } from '../../../support/software-passkey.ts';

const CLAIMS = { origin: 'http://localhost:1234', rpId: 'localhost' };
const passkey = new SoftwarePasskey();

function proofWith(nonce: string): PresenceProof {
  const statement = { ...PRESENCE_STATEMENT, nonce };
  return {
    statement,
    ...CLAIMS,
    passkey: { name: 'laptop', publicKey: passkey.publicKey, registeredAt: '2026-01-01T00:00:00.000Z' },
    assertion: passkey.assert(presenceChallengeOf(statement), CLAIMS),
  };
}

describe('the passkey proofs of a receipt', () => {
  it('R120 one assertion proves one decision: a receipt that repeats it is not valid', async () => {
    expect(await checkPresenceProofs('task-1', [proofWith('n'), proofWith('m')])).toHaveLength(2);
    const proof = proofWith('n');
    await expect(checkPresenceProofs('task-1', [proof, proof])).rejects.toThrow(/call-1 fails: .*twice/);
  });
});
