/** Contract tests for every store of records. */
import { describe, expect, it } from '@jest/globals';
import { type RecordStore, obtainSharedSecret } from '../../a2a-server/records/record-store.ts';

/** @param open returns a store on the same storage at each call within a test */
export function recordStoreContract(title: string, open: () => Promise<RecordStore>): void {
  describe(title, () => {
    it('a record is there for every store of the place until it is removed, and only one removal counts', async () => {
      const [one, other] = [await open(), await open()];
      expect(await one.read('tokens', 'a')).toBeUndefined();
      expect(await one.create('tokens', 'a', 'first')).toBe(true);
      expect(await other.create('tokens', 'a', 'second')).toBe(false);
      expect(await other.read('tokens', 'a')).toBe('first');
      await other.replace('tokens', 'a', 'third');
      await one.replace('tokens', 'b-2', 'new');
      expect(await one.list('tokens')).toEqual(
        new Map([
          ['a', 'third'],
          ['b-2', 'new'],
        ]),
      );
      expect(await one.list('tokens', 'b-')).toEqual(new Map([['b-2', 'new']]));
      expect(await one.list('tokens', 'b-3')).toEqual(new Map());
      expect(await one.list('page-links')).toEqual(new Map());
      const removed = await Promise.all([one.remove('tokens', 'a'), other.remove('tokens', 'a')]);
      expect(removed.toSorted()).toEqual([false, true]);
      expect(await one.read('tokens', 'a')).toBeUndefined();
    });

    it('a swap needs the value that was read, and brings no removed record back', async () => {
      const store = await open();
      await store.create('passkeys', 'a', '0');
      expect(await store.swap('passkeys', 'a', { before: '0', after: '1' })).toBe(true);
      expect(await store.swap('passkeys', 'a', { before: '0', after: '2' })).toBe(false);
      expect(await store.read('passkeys', 'a')).toBe('1');
      const tries = ['2', '3', '4'].map((after) => store.swap('passkeys', 'a', { before: '1', after }));
      expect((await Promise.all(tries)).filter(Boolean)).toHaveLength(1);
      const now = (await store.read('passkeys', 'a')) ?? '';
      await store.remove('passkeys', 'a');
      expect(await store.swap('passkeys', 'a', { before: now, after: '5' })).toBe(false);
      expect(await store.read('passkeys', 'a')).toBeUndefined();
    });

    it('a removal of a value does not remove a newer value', async () => {
      const store = await open();
      await store.create('push', 'a', '1');
      expect(await store.remove('push', 'a', '0')).toBe(false);
      expect(await store.read('push', 'a')).toBe('1');
      expect(await store.remove('push', 'a', '1')).toBe(true);
      expect(await store.read('push', 'a')).toBeUndefined();
    });

    it('a swap at the time of a removal or a replacement brings nothing back', async () => {
      const store = await open();
      for (let round = 0; round < 50; round += 1) {
        await store.replace('push', 'a', '0');
        await Promise.all([store.swap('push', 'a', { before: '0', after: '1' }), store.remove('push', 'a')]);
        expect(await store.read('push', 'a')).toBeUndefined();
        await store.create('push', 'a', '0');
        await Promise.all([
          store.swap('push', 'a', { before: '0', after: '1' }),
          store.replace('push', 'a', 'new'),
        ]);
        expect(await store.read('push', 'a')).toBe('new');
      }
    });

    it('X1 no other name finds a record or creates one', async () => {
      const store = await open();
      await store.create('tokens', 'a', 'value');
      for (const name of ['', '../tokens/a', 'A', 'a.json', 'a\0', 'a'.repeat(65)]) {
        expect(await store.read('tokens', name)).toBeUndefined();
        expect(await store.swap('tokens', name, { before: 'value', after: 'x' })).toBe(false);
        expect(await store.remove('tokens', name)).toBe(false);
        await expect((async () => store.create('tokens', name, 'x'))()).rejects.toThrow('no name');
        await expect((async () => store.replace('tokens', name, 'x'))()).rejects.toThrow('no name');
      }
      expect([...(await store.list('tokens')).keys()]).toEqual(['a']);
    });

    it('servers that start together get one secret, which stays', async () => {
      const [one, other] = [await open(), await open()];
      const [first, second] = await Promise.all([
        obtainSharedSecret(one, 'key', 'of one'),
        obtainSharedSecret(other, 'key', 'of other'),
      ]);
      expect(first).toBe(second);
      expect(await obtainSharedSecret(await open(), 'key', 'of a third')).toBe(first);
    });

    it('a watcher hears of a change by another store', async () => {
      const [one, other] = [await open(), await open()];
      await new Promise<void>((resolve) => {
        const look = async (): Promise<void> => {
          if ((await one.read('tokens', 'a')) !== 'value') return;
          stop();
          resolve();
        };
        const stop = one.watch('tokens', () => void look());
        void other.create('tokens', 'a', 'value');
      });
    });
  });
}
