/** Proves that a person is present: makes challenges for decisions, and checks the assertions of passkeys. */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../shared/runtime/clock.ts';
import { messageOf, ProductError } from '../../shared/runtime/errors.ts';
import { fieldOf } from '../../shared/runtime/record.ts';
import { pageAddress } from '../../shared/net/page-address.ts';
import { checkProof } from '../../shared/presence/check-proof.ts';
import {
  challengeOf,
  type DecisionStatement,
  type PresenceProof,
  type PresenceStatement,
} from '../../shared/presence/presence-proof.ts';
import type { PresenceAssertion } from '../../shared/protocol/presence-assertion.ts';
import type { PresenceCheck } from '../executor/resolve-decisions.ts';
import { CHALLENGE_MS, OpenChallenges } from './open-challenges.ts';
import type { Passkey, PasskeyFile } from './passkey-file.ts';
import type { RelyingParty } from './relying-party.ts';

/** `PublicKeyCredentialRequestOptionsJSON` of WebAuthn Level 3. */
export interface AssertionOptions {
  challenge: string;
  rpId: string;
  allowCredentials: { id: string; type: 'public-key'; transports: string[] }[];
  userVerification: 'required';
  /** Milliseconds. */
  timeout: number;
}

export interface Presence extends PresenceCheck {
  /** Makes a challenge that binds this decision. @throws ProductError PRESENCE_REQUIRED without a passkey */
  challenge(principal: string, decision: DecisionStatement): Promise<AssertionOptions>;
}

interface PresenceParts {
  file: PasskeyFile;
  party: RelyingParty;
  /** The server's URL for clients. */
  base: string;
  clock: Pick<Clock, 'now'>;
}

export function createPresence({ file, party, base, clock }: PresenceParts): Presence {
  const open = new OpenChallenges<PresenceStatement>(clock);

  return {
    address: (target) => pageAddress(party.type === 'usable' ? party.base : base, target),

    async challenge(principal, decision) {
      if (party.type === 'unusable') throw refused(party.problem);
      const passkeys = (await file.read()).filter(
        (each) => each.principal === principal && each.rpId === party.rpId,
      );
      if (passkeys.length === 0)
        throw refused(
          'You have no passkey on this server. Run `a2a-server passkey add` on the machine of the server, and open the link that it prints.',
        );
      const statement: PresenceStatement = {
        presence: 1,
        ...decision,
        nonce: randomBytes(32).toString('base64url'),
        expiresAt: new Date(clock.now() + CHALLENGE_MS).toISOString(),
      };
      const challenge = challengeOf(statement);
      open.add(challenge, principal, statement);
      return {
        challenge,
        rpId: party.rpId,
        allowCredentials: passkeys.map(({ id, transports }) => ({ id, type: 'public-key', transports })),
        userVerification: 'required',
        timeout: CHALLENGE_MS,
      };
    },

    async prove(principal, assertion) {
      if (party.type === 'unusable') throw refused(party.problem);
      // The challenge is used up before any check, so a second try needs a new challenge.
      const statement = open.take(challengeIn(assertion), principal);
      if (statement === undefined)
        throw refused('The challenge is unknown, used or older than five minutes. Use the passkey again.');
      const known = (await file.read()).find(
        (each) => each.id === assertion.id && each.principal === principal && each.rpId === party.rpId,
      );
      if (known === undefined) throw refused('This passkey is not registered here, or it was removed.');
      const { name, publicKey, registeredAt } = known;
      const proof: PresenceProof = {
        statement,
        rpId: party.rpId,
        origin: party.origin,
        passkey: { name, publicKey, registeredAt },
        assertion,
      };
      const count = await checkProof(proof, known.count).catch((error: unknown) => {
        throw refused(
          `The assertion of the passkey is not valid: ${messageOf(error)}. Use the passkey again.`,
        );
      });
      await file.change((all) => withCount(all, known, count));
      return proof;
    },
  };
}

/**
 * Returns the passkeys with the new signature counter of one of them. Another request may have used or removed this
 * passkey since the check of the assertion.
 * @throws ProductError PRESENCE_REQUIRED if the passkey was removed, or if its counter did not grow
 */
function withCount(all: readonly Passkey[], checked: Passkey, count: number): readonly Passkey[] {
  const current = all.find(
    ({ id, principal, publicKey }) =>
      id === checked.id && principal === checked.principal && publicKey === checked.publicKey,
  );
  if (current === undefined) throw refused('This passkey was removed.');
  // A passkey without a counter always has 0 (W3C WebAuthn Level 3 §7.2, step 22).
  if (count === 0 && current.count === 0) return all;
  if (count <= current.count)
    throw refused('The signature counter of the passkey did not grow. Use the passkey again.');
  return all.map((each) => (each === current ? { ...each, count } : each));
}

/** Returns the challenge that the browser says it has signed. `checkProof` compares it with the statement. */
function challengeIn({ clientDataJSON }: PresenceAssertion): string {
  try {
    const data: unknown = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString('utf8'));
    const challenge = fieldOf(data, 'challenge');
    return typeof challenge === 'string' ? challenge : '';
  } catch {
    return '';
  }
}

function refused(why: string): ProductError {
  return new ProductError('PRESENCE_REQUIRED', `${why} Nothing was decided.`);
}
