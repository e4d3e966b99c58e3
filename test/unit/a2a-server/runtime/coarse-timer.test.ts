import { describe, expect, it } from '@jest/globals';
import { CoarseTimer } from '../../../../a2a-server/runtime/coarse-timer.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

describe('waits that end together', () => {
  it('end at the end of their interval, with one timer', async () => {
    const clock = new FakeClock();
    const timer = new CoarseTimer(clock, 100);
    const ended: string[] = [];
    const note = (name: string) => () => void ended.push(name);
    const waits = [
      timer.wait(10).then(note('short')),
      timer.wait(90).then(note('longer')),
      timer.wait(101).then(note('next')),
    ];
    expect(clock.pending).toBe(2);
    clock.advance(99);
    await Promise.resolve();
    expect(ended).toEqual([]);
    clock.advance(1);
    await Promise.all(waits.slice(0, 2));
    expect(ended).toEqual(['short', 'longer']);
    clock.advance(100);
    await Promise.all(waits);
    expect(ended).toEqual(['short', 'longer', 'next']);
    expect(clock.pending).toBe(0);
  });

  it('never end early', async () => {
    const clock = new FakeClock();
    clock.advance(30);
    const timer = new CoarseTimer(clock, 100);
    const began = clock.now();
    let took: number | undefined;
    const wait = timer.wait(65).then(() => (took = clock.now() - began));
    for (let ms = 0; ms < 70; ms += 1) clock.advance(1);
    await wait;
    expect(took).toBe(70);
  });
});
