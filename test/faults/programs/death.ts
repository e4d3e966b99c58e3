/**
 * SIGKILL to this very process at one of its writes. `FAULTS_DIE_AT` says which: `before:3`, when the third is asked
 * for, or `after:3`, when it is durable and nobody has been told.
 */

const PLACE = /^(before|after):(\d+)$/;

/** @returns how to make a write that may be the last */
export function mortalWrites(): <T>(write: () => Promise<T>) => Promise<T> {
  const [, side, number] = PLACE.exec(process.env['FAULTS_DIE_AT'] ?? '') ?? [];
  const last = Number(number);
  let writes = 0;
  return async (write) => {
    const now = side !== undefined && ++writes === last;
    if (now && side === 'before') await die();
    const result = await write();
    if (now) await die();
    return result;
  };
}

/** The signal ends the process before anything else happens in it. */
function die(): Promise<never> {
  process.kill(process.pid, 'SIGKILL');
  return new Promise(() => undefined);
}
