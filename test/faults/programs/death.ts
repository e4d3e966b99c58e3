/**
 * Sends SIGKILL to its own process at one write. `FAULTS_DIE_AT` names the write: `before:3` is before the third
 * write, and `after:3` is after it is durable and before the caller knows.
 */

const PLACE = /^(before|after):(\d+)$/;

export interface MortalWrites {
  /** Makes a write, and kills the process if it is the named one. `write` may return a promise. */
  write<T>(write: () => T): T;
  /** Counts a write that is about to happen. Kills the process if the name is `before` this write. */
  before(): void;
  /** Kills the process if the name is `after` the last counted write, which is durable now. */
  after(): void;
}

export function mortalWrites(): MortalWrites {
  const [, side, number] = PLACE.exec(process.env['FAULTS_DIE_AT'] ?? '') ?? [];
  let writes = 0;
  const isAt = (wanted: string): boolean => side === wanted && writes === Number(number);
  const before = (): void => {
    writes += 1;
    if (isAt('before')) die();
  };
  const after = (): void => {
    if (isAt('after')) die();
  };
  return {
    before,
    after,
    write(write) {
      before();
      const result = write();
      if (isAt('after') && result instanceof Promise) void result.then(die, die);
      else after();
      return result;
    },
  };
}

/** Ends the process at once, without any clean-up. */
function die(): void {
  process.kill(process.pid, 'SIGKILL');
}
