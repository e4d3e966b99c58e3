/** Counts the turns of the event loop during some work, so that a test sees whether other work can run meanwhile. */
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
