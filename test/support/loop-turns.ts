/** Measures the turns of the event loop during some work, so that a test sees whether other work can run meanwhile. */

/** Counts the turns. */
export async function countLoopTurns(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let next = setImmediate(function count() {
    turns += 1;
    next = setImmediate(count);
  });
  try {
    await work();
    return turns;
  } finally {
    clearImmediate(next);
  }
}

/**
 * Returns the CPU time of the longest turn, in milliseconds. By the clock, a turn would be long on a busy machine too,
 * because other programs interrupt it.
 */
export async function longestTurnOf(work: () => Promise<unknown>): Promise<number> {
  let longestMs = 0;
  let before = process.cpuUsage();
  const measure = (): void => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    longestMs = Math.max(longestMs, (user + system) / 1_000);
  };
  const watch = setInterval(measure, 5);
  try {
    await work();
    measure();
    return longestMs;
  } finally {
    clearInterval(watch);
  }
}
