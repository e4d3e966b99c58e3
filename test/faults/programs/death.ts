/**
 * Sends SIGKILL to its own process at one write. `FAULTS_DIE_AT` names the write: `before:3` is before the third
 * write, and `after:3` is after it is durable and before the caller knows.
 */

const PLACE = /^(before|after):(\d+)$/;

/** @returns a function that makes writes, and kills the process at the named write. `write` may return a promise. */
export function mortalWrites(): <T>(write: () => T) => T {
  const [, side, number] = PLACE.exec(process.env['FAULTS_DIE_AT'] ?? '') ?? [];
  const last = Number(number);
  let writes = 0;
  return (write) => {
    const now = side !== undefined && ++writes === last;
    if (now && side === 'before') die();
    const result = write();
    if (!now) return result;
    if (result instanceof Promise) void result.then(die, die);
    else die();
    return result;
  };
}

/** Ends the process at once, without any clean-up. */
function die(): void {
  process.kill(process.pid, 'SIGKILL');
}
