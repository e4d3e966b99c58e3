/** Contract tests of the watchers of a journal, and of its close. */
import { describe, expect, it } from '@jest/globals';
import { beginning, continuing, delta, working } from '../journal-samples.ts';
import type { JournalStage } from './journal-stage.ts';
export function describeWatchers(on: JournalStage): void {
  describe('watch', () => {
    it('E5 a watcher wakes after each append to its task, when the entries can be read, and at no other time', async () => {
      await on.append(beginning('a', { events: [working] }));
      await on.append(beginning('b'));
      const seen: number[] = [];
      const reads: Promise<unknown>[] = [];
      const stop = on.journal.watch('a', () => {
        reads.push(on.journal.read('a', 0, 100).then((entries) => seen.push(entries.length)));
      });
      await on.append(continuing('b', 2, [working]));
      await on.journal.append(continuing('a', 1, [delta('conflicts')], 'working'));
      await Promise.all(reads);
      expect(seen).toEqual([]);
      await on.append(continuing('a', 2, [delta('one')], 'working'));
      // A read over a network takes time. The second append must not overtake it.
      await Promise.all(reads);
      await on.append(continuing('a', 3, [delta('two')], 'working'));
      await Promise.all(reads);
      expect(seen).toEqual([3, 4]);
      stop();
      await on.append(continuing('a', 4, [delta('three')], 'working'));
      await Promise.all(reads);
      expect(seen).toEqual([3, 4]);
    });

    it('an append wakes all watchers of the task, and each watcher can stop alone', async () => {
      await on.append(beginning('a', { events: [working] }));
      const woken: string[] = [];
      const wake = () => void woken.push('same');
      const stops = [
        on.journal.watch('a', wake),
        on.journal.watch('a', wake),
        on.journal.watch('a', () => void woken.push('other')),
      ];
      await on.append(continuing('a', 2, [delta('x')], 'working'));
      expect(woken).toEqual(['same', 'same', 'other']);
      stops[0]?.();
      stops[0]?.();
      await on.append(continuing('a', 3, [delta('x')], 'working'));
      expect(woken).toEqual(['same', 'same', 'other', 'same', 'other']);
      stops.forEach((stop) => stop());
    });

    it('a watcher of a task that does not exist yet wakes when the task starts', async () => {
      const woken = new Promise<void>((resolve) => void on.journal.watch('a', resolve));
      await on.append(beginning('a'));
      await woken;
    });
  });

  describe('close', () => {
    it('E3 close stores earlier appends, and refuses later appends with SHUTTING_DOWN', async () => {
      const before = on.journal.append(beginning('a'));
      await on.journal.close();
      await on.journal.close();
      expect((await before).type).toBe('appended');
      const closed = { reason: 'SHUTTING_DOWN' };
      await expect(on.journal.append(beginning('b'))).rejects.toMatchObject(closed);
      await expect(on.journal.read('a', 0, 1)).rejects.toMatchObject(closed);
      await expect(on.journal.list({ principal: 'alice' }, { size: 1 })).rejects.toMatchObject(closed);
      await on.reopen();
      expect(await on.everything('a')).toHaveLength(2);
      expect(await on.journal.row('b')).toBeUndefined();
    });
  });
}
