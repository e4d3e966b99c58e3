/**
 * Registers, lists and removes passkeys. A registration needs a one-time code of the command `a2a-server passkey add`.
 * Without the code, a program with a bearer token could register its own passkey. Then a passkey would not prove that a
 * person is present.
 */
import { createHash } from 'node:crypto';
import type {
  PublicKeyCredentialCreationOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { z } from 'zod';
import type { Clock } from '../../shared/runtime/clock.ts';
import { errorMessageOf, ProductError } from '../../shared/runtime/errors.ts';
import type { RegisteredPasskey } from '../../shared/protocol/registered-passkey.ts';
import { passkeyFingerprint } from '../../shared/presence/presence-proof.ts';
import { ChallengeStore } from './challenge-store.ts';
import type { Passkey, PasskeyStore } from './passkey-store.ts';
import type { RecordStore } from '../records/record-store.ts';
import type { RegistrationCodeVerifier } from './registration-codes.ts';
import type { RelyingParty } from './relying-party.ts';

const MAX_PASSKEYS = 20;

export type Passkeys = ReturnType<typeof createPasskeys>;

interface PasskeyRegistration {
  code: string;
  name: string;
  response: RegistrationResponseJSON;
}

interface PasskeysParts {
  /** Called after each change, so that the log and the audit log show who may prove presence. */
  onChange?: (
    change: 'registered' | 'removed',
    passkey: { principal: string; name: string; fingerprint: string },
  ) => void;
  store: PasskeyStore;
  /** The store of the open challenges. */
  records: RecordStore;
  codes: RegistrationCodeVerifier;
  party: RelyingParty;
  clock: Pick<Clock, 'now'>;
}

export function createPasskeys({ store, records, codes, party, clock, onChange }: PasskeysParts) {
  const open = new ChallengeStore(records, z.strictObject({ code: z.string() }), clock);
  const usable = (): Extract<RelyingParty, { type: 'usable' }> => {
    if (party.type === 'usable') return party;
    throw new ProductError('FORBIDDEN', party.problem);
  };

  return {
    async list(principal: string): Promise<RegisteredPasskey[]> {
      return (await store.list(principal)).map(viewOf);
    },

    /** Returns the browser's options for a registration. @throws ProductError FORBIDDEN without a valid code */
    async registrationOptions(
      principal: string,
      code: string,
    ): Promise<PublicKeyCredentialCreationOptionsJSON> {
      const { rpId } = usable();
      if (!(await codes.isValid(code, principal))) throw codeRefused();
      const own = await store.list(principal);
      if (own.length >= MAX_PASSKEYS)
        throw new ProductError('FORBIDDEN', `You have ${MAX_PASSKEYS} passkeys. Remove one of them first.`);
      const { generateRegistrationOptions } = await import('@simplewebauthn/server');
      const options = await generateRegistrationOptions({
        rpName: 'mcp-a2a-bridge',
        rpID: rpId,
        userName: principal,
        userID: userIdOf(principal),
        attestationType: 'none',
        excludeCredentials: own.map(({ id }) => ({ id })),
        authenticatorSelection: { residentKey: 'discouraged', userVerification: 'required' },
      });
      await open.add(options.challenge, principal, { code });
      return options;
    },

    /**
     * Uses up the code and stores the passkey.
     * @throws ProductError FORBIDDEN without a valid code, MALFORMED if the browser's response is not valid
     */
    async register(
      principal: string,
      { code, name, response }: PasskeyRegistration,
    ): Promise<RegisteredPasskey> {
      const { rpId, origin } = usable();
      const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
      const verified = await verifyRegistrationResponse({
        response,
        expectedChallenge: async (challenge) => (await open.take(challenge, principal))?.code === code,
        expectedOrigin: origin,
        expectedRPID: rpId,
        requireUserVerification: true,
      }).catch((error: unknown) => {
        throw new ProductError(
          'MALFORMED',
          `The passkey was not registered: ${errorMessageOf(error)}. Try again with a new link.`,
          { cause: error },
        );
      });
      if (!verified.verified)
        throw new ProductError('MALFORMED', 'The passkey was not registered: its signature is not valid.');
      if (!(await codes.use(code, principal))) throw codeRefused();
      const { credential } = verified.registrationInfo;
      const passkey: Passkey = {
        principal,
        id: credential.id,
        name,
        rpId,
        publicKey: Buffer.from(credential.publicKey).toString('base64url'),
        count: credential.counter,
        transports: [...(credential.transports ?? [])],
        registeredAt: new Date(clock.now()).toISOString(),
      };
      await store.put(passkey);
      onChange?.('registered', factsOf(passkey));
      return viewOf(passkey);
    },

    /** Removes a passkey. Returns false if the principal has no such passkey. */
    async remove(principal: string, id: string): Promise<boolean> {
      const removed = (await store.list(principal)).find((each) => each.id === id);
      if (removed === undefined || !(await store.remove(principal, id))) return false;
      onChange?.('removed', factsOf(removed));
      return true;
    },
  };
}

function viewOf({ id, name, registeredAt }: Passkey): RegisteredPasskey {
  return { id, name, registeredAt };
}

function factsOf({ principal, name, publicKey }: Passkey): {
  principal: string;
  name: string;
  fingerprint: string;
} {
  return { principal, name, fingerprint: passkeyFingerprint(publicKey) };
}

/**
 * Returns the WebAuthn user id. It must not be the user's name (WebAuthn Level 3 §14.6.1). An authenticator keeps one
 * passkey per user id.
 */
function userIdOf(principal: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(createHash('sha256').update(`user of mcp-a2a-bridge\n${principal}`).digest());
}

function codeRefused(): ProductError {
  return new ProductError(
    'FORBIDDEN',
    'This link for a passkey is used up, older than ten minutes, or for another user. Run `a2a-server passkey add` on the machine of the server for a new one.',
  );
}
