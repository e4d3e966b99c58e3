/**
 * SIGKILL to this very process at one of its writes. `FAULTS_DIE_AT` says which: `before:3`, when the third is asked
 * for, or `after:3`, when it is durable and nobody has been told.
 */

const PLACE = /^(before|after):(\d+)$/;

/** @returns how to make a write that may be the last: `write` makes it, or begins it and resolves when it is durable */
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

/** The signal ends the process before anything else happens in it. */
function die(): void {
  process.kill(process.pid, 'SIGKILL');
}
