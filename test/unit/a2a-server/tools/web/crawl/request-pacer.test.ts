import { describe, expect, it } from '@jest/globals';
import { getEventListeners } from 'node:events';
import { SiteRequestPacer } from '../../../../../../a2a-server/tools/web/crawl/request-pacer.ts';
import { FakeClock } from '../../../../../support/fake-clock.ts';

const { signal } = new AbortController();
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Requests time slots, and records who got them. */
function taker(pace: SiteRequestPacer, had: string[]) {
  return (name: string, site = 'a') => pace.turn(site, 1000, signal).then(() => had.push(name));
}

describe('Pace, the pause between requests to a site', () => {
  it('Pace allows the first request at once, the next one after the pause, and requests to other sites at once', async () => {
    const clock = new FakeClock();
    const had: string[] = [];
    const take = taker(new SiteRequestPacer(clock), had);
    const all = [take('first'), take('second'), take('third'), take('elsewhere', 'b')];
    await settle();
    expect(had).toEqual(['first', 'elsewhere']);
    clock.advance(999);
    await settle();
    expect(had).toHaveLength(2);
    clock.advance(1);
    await settle();
    expect(had).toEqual(['first', 'elsewhere', 'second']);
    clock.advance(1000);
    await Promise.all(all);
    expect(had.at(-1)).toBe('third');
    expect(clock.pending).toBe(0);
  });

  it('a wall clock that goes back does not delay the next request', async () => {
    const clock = new FakeClock();
    const had: string[] = [];
    const take = taker(new SiteRequestPacer(clock), had);
    await take('first');
    clock.jump(-3_600_000);
    const second = take('second');
    clock.advance(1000);
    await second;
    expect(had).toEqual(['first', 'second']);
  });

  it('A2 an aborted request gives its time slot to the next request', async () => {
    const clock = new FakeClock();
    const pace = new SiteRequestPacer(clock);
    const controller = new AbortController();
    await pace.turn('a', 1000, signal);
    const waiting = pace.turn('a', 1000, controller.signal);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
    expect(pace.turnAt('a') - clock.elapsed()).toBe(1000);
    expect(clock.pending).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  });
});
