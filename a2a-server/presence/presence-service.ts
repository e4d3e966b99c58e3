/** Proves that a person is present: makes challenges for decisions, and checks the assertions of passkeys. */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../../shared/runtime/clock.ts';
import { errorMessageOf, ProductError } from '../../shared/runtime/errors.ts';
import { fieldOf } from '../../shared/runtime/record.ts';
import { pageAddress } from '../../shared/net/page-address.ts';
import { checkPresenceProof } from '../../shared/presence/check-presence-proof.ts';
import {
  presenceChallengeOf,
  presenceStatementSchema,
  type DecisionStatement,
  type PresenceProof,
  type PresenceStatement,
} from '../../shared/presence/presence-proof.ts';
import type { PresenceAssertion } from '../../shared/protocol/presence-assertion.ts';
import { parseJson } from '../../shared/text/parse-json.ts';
import type { PresenceVerifier } from '../executor/messages/resolve-decisions.ts';
import { CHALLENGE_MS, ChallengeStore } from './challenge-store.ts';
import type { RecordStore } from '../records/record-store.ts';
import type { Passkey, PasskeyStore } from './passkey-store.ts';
import type { RelyingParty } from './relying-party.ts';

/** The options of a WebAuthn assertion: `PublicKeyCredentialRequestOptionsJSON` of WebAuthn Level 3. */
interface AssertionOptions {
  challenge: string;
  rpId: string;
  allowCredentials: { id: string; type: 'public-key'; transports: string[] }[];
  userVerification: 'required';
  /** The time limit for the person, in milliseconds. */
  timeout: number;
}

export interface PresenceService extends PresenceVerifier {
  /** Makes a challenge that binds this decision. @throws ProductError PRESENCE_REQUIRED without a passkey */
  challenge(principal: string, decision: DecisionStatement): Promise<AssertionOptions>;
}

interface PresenceParts {
  passkeys: PasskeyStore;
  /** The store of the open challenges. */
  records: RecordStore;
  party: RelyingParty;
  /** The server's URL for clients. */
  base: string;
  clock: Pick<Clock, 'now'>;
}

export function createPresenceService({
  passkeys,
  records,
  party,
  base,
  clock,
}: PresenceParts): PresenceService {
  const open = new ChallengeStore(records, presenceStatementSchema, clock);

  return {
    address: (target) => pageAddress(party.type === 'usable' ? party.base : base, target),

    async challenge(principal, decision) {
      if (party.type === 'unusable') throw presenceRequiredError(party.problem);
      const own = (await passkeys.list(principal)).filter(({ rpId }) => rpId === party.rpId);
      if (own.length === 0)
        throw presenceRequiredError(
          `You have no passkey on this server. Run \`a2a-server passkey add --principal ${principal}\` on the machine of the server, and open the link that it prints.`,
        );
      const statement: PresenceStatement = {
        presence: 1,
        ...decision,
        nonce: randomBytes(32).toString('base64url'),
        expiresAt: new Date(clock.now() + CHALLENGE_MS).toISOString(),
      };
      const challenge = presenceChallengeOf(statement);
      await open.add(challenge, principal, statement);
      return {
        challenge,
        rpId: party.rpId,
        allowCredentials: own.map(({ id, transports }) => ({ id, type: 'public-key', transports })),
        userVerification: 'required',
        timeout: CHALLENGE_MS,
      };
    },

    async prove(principal, assertion) {
      if (party.type === 'unusable') throw presenceRequiredError(party.problem);
      // The challenge is used up before any check, so a second try needs a new challenge.
      const statement = await open.take(challengeIn(assertion), principal);
      if (statement === undefined)
        throw presenceRequiredError(
          'The challenge is unknown, used or older than five minutes. Use the passkey again.',
        );
      const known = (await passkeys.list(principal)).find(
        ({ id, rpId }) => id === assertion.id && rpId === party.rpId,
      );
      if (known === undefined)
        throw presenceRequiredError('This passkey is not registered here, or it was removed.');
      const { name, publicKey, registeredAt } = known;
      const proof: PresenceProof = {
        statement,
        rpId: party.rpId,
        origin: party.origin,
        passkey: { name, publicKey, registeredAt },
        assertion,
      };
      const count = await checkPresenceProof(proof, known.count).catch((error: unknown) => {
        throw presenceRequiredError(
          `The assertion of the passkey is not valid: ${errorMessageOf(error)}. Use the passkey again.`,
        );
      });
      await storeCount(passkeys, known, count);
      return proof;
    },
  };
}

/**
 * Stores the signature counter of a use. Another request may have used or removed the passkey since the check of the
 * assertion.
 * @throws ProductError PRESENCE_REQUIRED if the passkey was removed, or if its counter did not grow; STORAGE
 */
async function storeCount(passkeys: PasskeyStore, checked: Passkey, count: number): Promise<void> {
  let current: Passkey | undefined = checked;
  do {
    // A passkey without a counter always has 0 (W3C WebAuthn Level 3 §7.2, step 22).
    if (count <= current.count && (count !== 0 || current.count !== 0))
      throw presenceRequiredError(
        'The signature counter of the passkey did not grow. Use the passkey again.',
      );
    if (await passkeys.swap(current, { ...current, count })) return;
    current = (await passkeys.list(checked.principal)).find(
      ({ id, publicKey }) => id === checked.id && publicKey === checked.publicKey,
    );
  } while (current !== undefined);
  throw presenceRequiredError('This passkey was removed.');
}

/** Returns the challenge that the browser says it has signed. `checkPresenceProof` compares it with the statement. */
function challengeIn({ clientDataJSON }: PresenceAssertion): string {
  const data = parseJson(Buffer.from(clientDataJSON, 'base64url').toString('utf8'));
  const challenge = fieldOf(data, 'challenge');
  return typeof challenge === 'string' ? challenge : '';
}

function presenceRequiredError(why: string): ProductError {
  return new ProductError('PRESENCE_REQUIRED', `${why} Nothing was decided.`);
}
