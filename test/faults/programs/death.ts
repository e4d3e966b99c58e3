/**
 * Kills its own process with SIGKILL at one write. With `FAULTS_DIE_AT=before:3` it dies before the third write,
 * with `after:3` when that write is durable.
 */

const PLACE = /^(before|after):(\d+)$/;

export interface MortalWrites {
  /** Makes a write, and kills the process if `FAULTS_DIE_AT` names this write. `write` may return a promise. */
  write<T>(write: () => T): T;
  /** Counts the next write. Kills the process if `FAULTS_DIE_AT` names the time before this write. */
  before(): void;
  /** Kills the process if `FAULTS_DIE_AT` names the time after the last counted write, which is durable now. */
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
