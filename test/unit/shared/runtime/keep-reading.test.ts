import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { keepReadingStream, type KeepReadingStreamOptions } from '../../../../shared/runtime/keep-reading.ts';

const QUICK = { retries: 2, minTimeout: 0, maxTimeout: 0, factor: 1, randomize: false };
const CUT = new Error('cut');
const REFUSED = new Error('refused');

/** Describes one opened stream: its number of events, and how it ends. */
interface Piece {
  events: number;
  end: 'ended' | 'cut' | 'refused';
}

function scene(pieces: readonly Piece[], wanted: number) {
  const left = [...pieces];
  const seen: number[] = [];
  const cuts: unknown[] = [];
  const keeping: KeepReadingStreamOptions = {
    backOff: QUICK,
    signal: new AbortController().signal,
    position: () => seen.at(-1) ?? null,
    async read(opened) {
      const piece = left.shift() ?? { events: wanted, end: 'ended' };
      opened();
      for (let at = 0; at < piece.events; at += 1) {
        await Promise.resolve();
        seen.push((seen.at(-1) ?? 0) + 1);
        if (seen.length === wanted) return 'enough';
      }
      if (piece.end === 'cut') throw CUT;
      if (piece.end === 'refused') throw REFUSED;
      return 'ended';
    },
    passes: (error) => error !== REFUSED,
    endedEarly: () => new Error('ended early'),
    onCut: (error) => void cuts.push(error),
  };
  return { seen, cuts, left, kept: keepReadingStream(keeping) };
}

const piece = (most: number): fc.Arbitrary<Piece> =>
  fc.record({ events: fc.nat({ max: most }), end: fc.constantFrom('ended', 'cut') });

describe('a stream that the client reopens after cuts', () => {
  test('S1 the stream continues after any number of cuts, while each new stream delivers an event', async () => {
    const sound = piece(4).map(({ events, end }) => ({ events: events + 1, end }));
    await fc.assert(
      fc.asyncProperty(
        fc.array(sound, { maxLength: 20 }),
        fc.integer({ min: 1, max: 30 }),
        async (all, n) => {
          const { seen, kept } = scene(all, n);
          await kept;
          expect(seen).toEqual(Array.from({ length: n }, (_, at) => at + 1));
        },
      ),
    );
  });

  test('the stream fails exactly when more streams in a row than the allowed attempts deliver no event', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(piece(2), { maxLength: 12 }), async (all) => {
        const wanted = 100;
        const run = firstRunOfFruitless(all, QUICK.retries + 1);
        const { kept, left } = scene(all, wanted);
        if (run === undefined) await kept;
        else {
          await expect(kept).rejects.toThrow(run.end === 'cut' ? 'cut' : 'ended early');
          expect(all.length - left.length).toBe(run.after);
        }
      }),
    );
  });

  test('the stream fails at once when the peer refuses, and reports every cut before that', async () => {
    const { kept, cuts } = scene(
      [
        { events: 1, end: 'cut' },
        { events: 0, end: 'cut' },
        { events: 0, end: 'refused' },
      ],
      9,
    );
    await expect(kept).rejects.toBe(REFUSED);
    expect(cuts).toEqual([CUT, CUT]);
  });

  test('the stream stops when its signal aborts', async () => {
    const stop = new AbortController();
    const kept = keepReadingStream({
      backOff: { ...QUICK, minTimeout: 60_000, maxTimeout: 60_000 },
      signal: stop.signal,
      position: () => null,
      read: () => Promise.reject(CUT),
      passes: () => true,
      endedEarly: () => CUT,
      onCut: () => stop.abort(),
    });
    await expect(kept).rejects.toMatchObject({ name: 'AbortError' });
  });
});

/** Returns the position at which the reader must give up, and how the last stream ended. */
function firstRunOfFruitless(
  all: readonly Piece[],
  length: number,
): { after: number; end: Piece['end'] } | undefined {
  let run = 0;
  for (const [at, { events, end }] of all.entries()) {
    run = events === 0 ? run + 1 : 0;
    if (run === length) return { after: at + 1, end };
  }
  return undefined;
}
