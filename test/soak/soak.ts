/** A process at work for long, and what has come to it meanwhile. */
import type { Census } from './census.ts';
import { growth } from './growth.ts';

/** In rounds of a workload. */
export interface Length {
  /** Not looked at: code is compiled, pools and caches are filled. */
  warmUp: number;
  /** Of each of the two windows: a census follows each of their rounds. */
  window: number;
  /** Between the windows. */
  between: number;
}

export interface Soaked {
  /** Turns in all. */
  turns: number;
  /** From a census of the early window to its like in the late one. */
  between: { rounds: number; turns: number };
  growth: Census;
}

export interface Subject {
  /** Goes through the workload once. */
  round: () => Promise<void>;
  /** Turns so far. */
  turns: () => number;
  census: () => Promise<Census>;
}

export async function soak({ round, turns, census }: Subject, length: Length): Promise<Soaked> {
  const work = async (rounds: number): Promise<void> => {
    for (let done = 0; done < rounds; done += 1) await round();
  };
  const look = async (): Promise<Census[]> => {
    const window: Census[] = [];
    while (window.length < length.window) {
      await round();
      window.push(await census());
    }
    return window;
  };
  await work(length.warmUp);
  const early = await look();
  const before = turns();
  await work(length.between);
  const late = await look();
  const between = { rounds: length.between + length.window, turns: turns() - before };
  return { turns: turns(), between, growth: growth(early, late) };
}
