import { describe, expect, test } from '@jest/globals';
import { createPublicKey, type KeyObject } from 'node:crypto';
import { createFileRecordStore } from '../../../../a2a-server/records/file-records.ts';
import {
  currentPushKey,
  JWKS_MAX_AGE_S,
  newPushKeys,
  publicPushKeys,
  pushKeyRotation,
  SIGNATURE_LIFETIME_S,
} from '../../../../a2a-server/push/push-keys.ts';
import {
  replaceStoredPushKeys,
  rotateStoredPushKeys,
  createPushKeysReader,
} from '../../../../a2a-server/push/stored-push-keys.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { memoryRecords } from '../../../support/memory-records.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 1);

const text = (key: KeyObject): string => key.export({ format: 'pem', type: 'spki' }).toString();
const signer = (key: KeyObject): string => text(createPublicKey(key));

describe('the keys of push notifications', () => {
  test('every signature has a published key, also for a receiver that keeps the keys or checks late', () => {
    const before = newPushKeys();
    const { keys } = pushKeyRotation(before, START);
    const publishedAt = (at: number) => publicPushKeys(at < START ? before : keys, at).map(text);
    const used = new Set<string>();
    for (let at = START; at < START + 60 * MINUTE; at += MINUTE / 2) {
      const key = signer(currentPushKey(keys, at));
      used.add(key);
      expect(publishedAt(at)).toContain(key);
      expect(publishedAt(at - JWKS_MAX_AGE_S * 1000)).toContain(key);
      expect(publishedAt(at + SIGNATURE_LIFETIME_S * 1000)).toContain(key);
    }
    expect(used.size).toBe(2);
  });

  test('the old key is published for a bounded time, and the next rotation removes it from the store', () => {
    const before = newPushKeys();
    const { keys, from, oldUntil } = pushKeyRotation(before, START);
    expect([from - START, oldUntil - START]).toEqual([10 * MINUTE, 20 * MINUTE]);
    expect(publicPushKeys(keys, oldUntil - 1)).toHaveLength(2);
    expect(publicPushKeys(keys, oldUntil).map(text)).toEqual([signer(currentPushKey(keys, oldUntil))]);
    const next = pushKeyRotation(keys, oldUntil).keys;
    expect(next).toHaveLength(2);
    expect(JSON.stringify(next)).not.toContain(JSON.stringify(before[0].pem));
  });

  test('two rotations in a row keep the order of the keys', () => {
    const first = pushKeyRotation(newPushKeys(), START).keys;
    const { keys } = pushKeyRotation(first, START + MINUTE);
    const at = [0, 10, 11].map((minutes) => signer(currentPushKey(keys, START + minutes * MINUTE)));
    expect(new Set(at).size).toBe(3);
    expect(publicPushKeys(keys, START + 11 * MINUTE).map(text)).toEqual(at);
  });
});

function servers() {
  const records = memoryRecords();
  const clock = new FakeClock();
  return {
    records,
    clock,
    one: createPushKeysReader(records, clock),
    other: createPushKeysReader(records, clock),
  };
}

describe('the stored keys of push notifications', () => {
  test('servers that start together use the same key, and follow a rotation within a second', async () => {
    const { records, clock, one, other } = servers();
    const [first] = await Promise.all([one(), other()]);
    expect(await other()).toEqual(await one());
    await rotateStoredPushKeys(records, clock.now());
    clock.advance(1_000);
    expect(await one()).toMatchObject([first[0], { from: clock.now() - 1_000 + 10 * MINUTE }]);
    expect(await other()).toEqual(await one());
    await replaceStoredPushKeys(records);
    clock.advance(1_000);
    expect(await one()).toHaveLength(1);
    expect((await one())[0].pem).not.toBe(first[0].pem);
    expect(await other()).toEqual(await one());
  });

  test('a rotation of keys that no server has used yet creates both', async () => {
    const { records, clock, one } = servers();
    await rotateStoredPushKeys(records, clock.now());
    expect(await one()).toHaveLength(2);
  });

  test('damaged keys are an error without their text, and a replacement repairs them', async () => {
    const { records, clock, one } = servers();
    await records.replace('secrets', 'push-keys', '[{"pem":"a secret');
    await expect(one()).rejects.toThrow('rotate-key --revoke');
    await expect(one()).rejects.not.toThrow('a secret');
    await expect(rotateStoredPushKeys(records, clock.now())).rejects.toThrow('rotate-key --revoke');
    await replaceStoredPushKeys(records);
    expect(await one()).toHaveLength(1);
  });

  test('a rotation at the same time as a revocation does not bring the revoked keys back', async () => {
    const directory = await temporaryDirectory();
    const open = () => createFileRecordStore(directory, () => undefined);
    const [one, other] = [open(), open()];
    const read = () => createPushKeysReader(one, new FakeClock())();
    const before = await read();
    let revoked: Promise<void> | undefined;
    const during: typeof one = {
      ...one,
      create: (...record) => {
        revoked = replaceStoredPushKeys(other);
        return one.create(...record);
      },
    };
    await rotateStoredPushKeys(during, START).catch(() => undefined);
    await revoked;
    expect(await read()).not.toContainEqual(before[0]);
    expect(await one.list('secrets')).toHaveProperty('size', 1);
  });
});
