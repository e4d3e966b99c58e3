import { beforeEach, describe, expect, it } from '@jest/globals';
import { CHALLENGE_MS } from '../../../../a2a-server/presence/challenge-store.ts';
import { type PasskeyStore, createPasskeyStore } from '../../../../a2a-server/presence/passkey-store.ts';
import { createPasskeys, type Passkeys } from '../../../../a2a-server/presence/passkeys.ts';
import {
  createPresenceService,
  type PresenceService,
} from '../../../../a2a-server/presence/presence-service.ts';
import {
  issueRegistrationCode,
  REGISTRATION_CODE_MS,
  createRegistrationCodes,
} from '../../../../a2a-server/presence/registration-codes.ts';
import { relyingPartyOf } from '../../../../a2a-server/presence/relying-party.ts';
import { fieldOf } from '../../../../shared/runtime/record.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { PROVED_DECISION } from '../../../support/presence-samples.ts';
import { SoftwarePasskey } from '../../../support/software-passkey.ts';
import type { RecordStore } from '../../../../a2a-server/records/record-store.ts';
import { memoryRecords } from '../../../support/memory-records.ts';

const BASE = 'http://127.0.0.1:4100';
const CLAIMS = { origin: 'http://localhost:4100', rpId: 'localhost' };

let records: RecordStore;
let clock: FakeClock;
let passkeys: Passkeys;
let presence: PresenceService;
let passkey: SoftwarePasskey;

beforeEach(async () => {
  records = memoryRecords();
  clock = new FakeClock();
  passkey = new SoftwarePasskey();
  const store = createPasskeyStore(records);
  const party = relyingPartyOf(BASE);
  const codes = createRegistrationCodes(records, () => clock.now());
  passkeys = createPasskeys({ store, records, codes, party, clock });
  presence = createPresenceService({ passkeys: store, records, party, base: BASE, clock });
});

const newCode = (principal = 'ada'): Promise<string> =>
  issueRegistrationCode(records, principal, clock.now());

async function register(principal = 'ada', given?: string, key = passkey, claims = {}): Promise<unknown> {
  const code = given ?? (await newCode(principal));
  const options = await passkeys.registrationOptions(principal, code);
  const challenge = String(fieldOf(options, 'challenge'));
  const response = key.register(challenge, { ...CLAIMS, ...claims });
  return passkeys.register(principal, { code, name: 'laptop', response: responseOf(response) });
}

type Response = Parameters<Passkeys['register']>[1]['response'];
const isResponse = (value: object): value is Response => 'rawId' in value;
function responseOf(value: object): Response {
  if (isResponse(value)) return value;
  throw new TypeError('the software passkey made no response');
}

describe('the registration of a passkey', () => {
  it('a person registers a passkey with a code of the command, sees it, and removes it', async () => {
    await register();
    const [listed] = await passkeys.list('ada');
    expect(listed).toMatchObject({ id: passkey.id, name: 'laptop' });
    expect(await passkeys.list('eve')).toEqual([]);
    expect(await passkeys.remove('eve', passkey.id)).toBe(false);
    expect(await passkeys.remove('ada', passkey.id)).toBe(true);
    expect(await passkeys.list('ada')).toEqual([]);
  });

  it('without a code of the command, or with the code of another user, nobody registers a passkey', async () => {
    for (const code of ['', 'x', '../passkeys.json', await newCode('eve')])
      await expect(register('ada', code)).rejects.toMatchObject({ reason: 'FORBIDDEN' });
    expect(await passkeys.list('ada')).toEqual([]);
  });

  it('a code registers one passkey, within ten minutes', async () => {
    const code = await newCode();
    await register('ada', code);
    await expect(register('ada', code, new SoftwarePasskey())).rejects.toMatchObject({ reason: 'FORBIDDEN' });
    const late = await newCode();
    clock.advance(REGISTRATION_CODE_MS);
    await expect(register('ada', late)).rejects.toMatchObject({ reason: 'FORBIDDEN' });
    expect(await passkeys.list('ada')).toHaveLength(1);
  });

  it.each([{ origin: 'http://127.0.0.1:4100' }, { rpId: 'example.com' }, { verified: false }])(
    'a registration with %j is refused, and the code still works',
    async (claims) => {
      const code = await newCode();
      await expect(register('ada', code, passkey, claims)).rejects.toMatchObject({ reason: 'MALFORMED' });
      await register('ada', code);
    },
  );
});

async function challengeFor(principal = 'ada'): Promise<string> {
  return (await presence.challenge(principal, PROVED_DECISION)).challenge;
}

describe('the proof of a decision', () => {
  it('a registered passkey proves the decision, and the proof contains all that a later check needs', async () => {
    await register();
    const options = await presence.challenge('ada', PROVED_DECISION);
    expect(options).toMatchObject({ rpId: 'localhost', userVerification: 'required' });
    expect(options.allowCredentials.map(({ id }) => id)).toEqual([passkey.id]);
    const proof = await presence.prove('ada', passkey.assert(options.challenge, CLAIMS));
    expect(proof).toMatchObject({ statement: PROVED_DECISION, ...CLAIMS, passkey: { name: 'laptop' } });
  });

  it('a challenge works once, for its user, for five minutes', async () => {
    await register();
    const assertion = passkey.assert(await challengeFor(), CLAIMS);
    await expect(presence.prove('eve', assertion)).rejects.toMatchObject({ reason: 'PRESENCE_REQUIRED' });
    await presence.prove('ada', assertion);
    await expect(presence.prove('ada', assertion)).rejects.toMatchObject({ reason: 'PRESENCE_REQUIRED' });
    const late = passkey.assert(await challengeFor(), CLAIMS);
    clock.advance(CHALLENGE_MS);
    await expect(presence.prove('ada', late)).rejects.toThrow(/older than five minutes/);
  });

  it('a challenge of one server is answered at another one that shares the records', async () => {
    await register();
    const other = createPresenceService({
      passkeys: createPasskeyStore(records),
      records,
      party: relyingPartyOf(BASE),
      base: BASE,
      clock,
    });
    const assertion = passkey.assert(await challengeFor(), CLAIMS);
    const both = await Promise.allSettled([presence, other].map((each) => each.prove('ada', assertion)));
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  it('the challenge of a registration proves no decision', async () => {
    const code = await newCode();
    const options = await passkeys.registrationOptions('ada', code);
    await register();
    const assertion = passkey.assert(String(fieldOf(options, 'challenge')), CLAIMS);
    await expect(presence.prove('ada', assertion)).rejects.toThrow(/challenge is unknown/);
  });

  it('a failed assertion uses up its challenge', async () => {
    await register();
    const challenge = await challengeFor();
    const wrong = passkey.assert(challenge, { ...CLAIMS, verified: false });
    await expect(presence.prove('ada', wrong)).rejects.toMatchObject({ reason: 'PRESENCE_REQUIRED' });
    await expect(presence.prove('ada', passkey.assert(challenge, CLAIMS))).rejects.toThrow(/used/);
  });

  it('a passkey that is unknown, removed, of another user, or whose counter goes back proves nothing', async () => {
    await register();
    const stranger = new SoftwarePasskey();
    await expect(presence.prove('ada', stranger.assert(await challengeFor(), CLAIMS))).rejects.toThrow(
      /not registered/,
    );
    await register('eve', undefined, stranger);
    await expect(presence.prove('ada', stranger.assert(await challengeFor(), CLAIMS))).rejects.toThrow(
      /not registered/,
    );
    await presence.prove('ada', passkey.assert(await challengeFor(), { ...CLAIMS, count: 5 }));
    await expect(
      presence.prove('ada', passkey.assert(await challengeFor(), { ...CLAIMS, count: 5 })),
    ).rejects.toThrow(/counter/);
    const open = await challengeFor();
    await passkeys.remove('ada', passkey.id);
    await expect(presence.prove('ada', passkey.assert(open, { ...CLAIMS, count: 6 }))).rejects.toThrow(
      /removed/,
    );
  });

  it('of two concurrent assertions with the same counter, only one proves a decision', async () => {
    await register();
    const both = [await challengeFor(), await challengeFor()].map((challenge) =>
      presence.prove('ada', passkey.assert(challenge, { ...CLAIMS, count: 5 })),
    );
    const results = await Promise.allSettled(both);
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(results).toContainEqual(
      expect.objectContaining({ reason: expect.objectContaining({ reason: 'PRESENCE_REQUIRED' }) }),
    );
  });

  it.each([0, 7])('a passkey (counter %i) that is removed during the check proves nothing', async (count) => {
    await register();
    const store = createPasskeyStore(records);
    const racingStore: PasskeyStore = {
      ...store,
      list: async (principal) => {
        const passkeysBefore = await store.list(principal);
        if (removesNow) await passkeys.remove('ada', passkey.id);
        return passkeysBefore;
      },
    };
    let removesNow = false;
    const racing = createPresenceService({
      passkeys: racingStore,
      records,
      party: relyingPartyOf(BASE),
      base: BASE,
      clock,
    });
    const { challenge } = await racing.challenge('ada', PROVED_DECISION);
    removesNow = true;
    const assertion = passkey.assert(challenge, { ...CLAIMS, count });
    await expect(racing.prove('ada', assertion)).rejects.toMatchObject({ reason: 'PRESENCE_REQUIRED' });
  });

  it('without a passkey there is no challenge, and the refusal names the command', async () => {
    await expect(presence.challenge('ada', PROVED_DECISION)).rejects.toThrow(
      /a2a-server passkey add --principal ada/,
    );
  });
});

describe('the relying party', () => {
  it.each([
    ['http://127.0.0.1:4100', 'localhost', 'http://localhost:4100'],
    ['http://[::1]:4100', 'localhost', 'http://localhost:4100'],
    ['http://localhost:4100', 'localhost', 'http://localhost:4100'],
    ['https://agents.example.com/a', 'agents.example.com', 'https://agents.example.com'],
  ])('the server at %s has the domain %s', (base, rpId, origin) => {
    expect(relyingPartyOf(base)).toMatchObject({ type: 'usable', rpId, origin });
  });

  it.each(['http://192.168.1.5:4100', 'https://192.168.1.5', 'http://agents.example.com'])(
    'the server at %s has no address where passkeys work',
    (base) => {
      expect(relyingPartyOf(base)).toMatchObject({ type: 'unusable' });
    },
  );
});
