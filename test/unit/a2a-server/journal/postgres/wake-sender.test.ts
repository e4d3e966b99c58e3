import { describe, expect, it, jest } from '@jest/globals';
import type { HeadSeqs } from '../../../../../a2a-server/journal/postgres/wake-message.ts';
import { WAKE_PAUSE_MS, JournalWakeSender } from '../../../../../a2a-server/journal/postgres/wake-sender.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

const promisesSettle = () => new Promise((resolve) => setImmediate(resolve));

function stage(send: (heads: HeadSeqs) => Promise<void> = async () => undefined) {
  const clock = new FakeClock();
  const sends = jest.fn(send);
  const sender = new JournalWakeSender({ clock, send: sends });
  return {
    sender,
    sent: () => sends.mock.calls.map(([heads]) => [...heads]),
    pass: async (ms: number): Promise<void> => {
      clock.advance(ms);
      await promisesSettle();
    },
  };
}

describe('the sender of wake-ups', () => {
  it('the first wake-up is sent at once, and the later ones together after the pause', async () => {
    const { sender, sent, pass } = stage();
    sender.add(new Map([['a', 1]]));
    expect(sent()).toEqual([[['a', 1]]]);
    sender.add(new Map([['a', 3]]));
    sender.add(new Map([['b', 1]]));
    sender.add(new Map([['a', 2]]));
    await pass(WAKE_PAUSE_MS - 1);
    expect(sent()).toHaveLength(1);
    await pass(1);
    expect(sent()[1]).toEqual([
      ['a', 3],
      ['b', 1],
    ]);
    await pass(WAKE_PAUSE_MS);
    sender.add(new Map([['c', 1]]));
    expect(sent()[2]).toEqual([['c', 1]]);
  });

  it('one send is in progress at a time', async () => {
    let finish: (() => void) | undefined;
    const { sender, sent, pass } = stage(() => new Promise((resolve) => (finish = resolve)));
    sender.add(new Map([['a', 1]]));
    sender.add(new Map([['b', 1]]));
    await pass(10 * WAKE_PAUSE_MS);
    expect(sent()).toHaveLength(1);
    finish?.();
    await pass(0);
    expect(sent()).toHaveLength(2);
  });

  it('R116 a failed send does not stop the later ones', async () => {
    const { sender, sent, pass } = stage(() => Promise.reject(new Error('the connection is lost')));
    sender.add(new Map([['a', 1]]));
    await pass(WAKE_PAUSE_MS);
    sender.add(new Map([['b', 1]]));
    expect(sent()).toHaveLength(2);
  });

  it('R116 wake-ups whose send has failed are sent again, with the next ones or on request', async () => {
    let lost = true;
    const { sender, sent, pass } = stage(async () => {
      if (lost) throw new Error('the connection is lost');
    });
    sender.add(new Map([['a', 1]]));
    await pass(WAKE_PAUSE_MS);
    sender.add(new Map([['b', 1]]));
    await pass(WAKE_PAUSE_MS);
    lost = false;
    sender.sendAgain();
    await pass(WAKE_PAUSE_MS);
    const both = [
      ['b', 1],
      ['a', 1],
    ];
    expect(sent().slice(1)).toEqual(
      [both.toReversed(), both.toReversed()].map((heads) => expect.arrayContaining(heads)),
    );
    sender.sendAgain();
    expect(sent()).toHaveLength(3);
  });

  it('after the close, nothing is sent', async () => {
    const { sender, sent, pass } = stage();
    sender.add(new Map([['a', 1]]));
    sender.add(new Map([['b', 1]]));
    sender.close();
    await pass(WAKE_PAUSE_MS);
    sender.add(new Map([['c', 1]]));
    expect(sent()).toHaveLength(1);
  });
});
