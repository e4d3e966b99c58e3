/** Runs a workload for a long time and measures the growth of the process. */
import type { Census } from './census.ts';
import { growth } from './growth.ts';

/** Numbers of rounds of the workload. */
export interface Length {
  /** Rounds before the first window: Node compiles code, and pools and caches fill. */
  warmUp: number;
  /** The length of each of the three windows. Censuses follow each round of a window. */
  window: number;
  /** The rounds between two windows. */
  between: number;
}

export interface Soaked {
  /** The total number of turns. */
  turns: number;
  /** The distance from a census of a window to the same census of the next window. */
  between: { rounds: number; turns: number };
  growth: Census;
}

export interface Subject {
  /** Runs the workload once. */
  round: () => Promise<void>;
  /** The number of turns so far. */
  turns: () => number;
  census: () => Promise<Census>;
}

/** The censuses after each round. The clean-up after a round, e.g. of a reset connection, may end after the round. */
const CENSUSES = 4;

export async function soak({ round, turns, census }: Subject, length: Length): Promise<Soaked> {
  const work = async (rounds: number): Promise<void> => {
    for (let done = 0; done < rounds; done += 1) await round();
  };
  const look = async (): Promise<Census[]> => {
    const window: Census[] = [];
    for (let done = 0; done < length.window; done += 1) {
      await round();
      for (let taken = 0; taken < CENSUSES; taken += 1) window.push(await census());
    }
    return window;
  };
  await work(length.warmUp);
  const early = await look();
  const before = turns();
  await work(length.between);
  const middle = await look();
  const between = { rounds: length.between + length.window, turns: turns() - before };
  await work(length.between);
  const late = await look();
  return { turns: turns(), between, growth: growth(early, middle, late) };
}
