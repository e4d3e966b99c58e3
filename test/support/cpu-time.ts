/**
 * Returns the CPU time that this process uses for the work, in milliseconds. Two such times can be compared on a busy
 * machine. By the clock, long work would take many times as long there as short work, because other programs interrupt it.
 */
export function cpuMsOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
