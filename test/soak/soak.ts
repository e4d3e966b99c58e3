/** Runs a workload for a long time and measures the growth of the process. */
import type { Census } from './census.ts';
import { growth } from './growth.ts';

/** Lengths in rounds of the workload. */
export interface Length {
  /** The rounds before the first window, in which Node compiles code, and pools and caches fill. */
  warmUp: number;
  /** The length of each of the three windows. Censuses follow each round of a window. */
  window: number;
  /** The rounds between two windows. */
  between: number;
}

export interface Soaked {
  /** The total number of turns. */
  turns: number;
  /** The distance between the same census of two windows, as rounds and as turns. */
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

/** The number of censuses after each round. The clean-up of a round may end after the round. */
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
