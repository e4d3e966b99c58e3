/**
 * Stores the time and uptime at which a server last saw a correct clock, in the state directory. A later start compares
 * them with the current values, and so detects that the clock has jumped.
 */
import { readFile } from 'node:fs/promises';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { errorCode } from '../runtime/errors.ts';
import { parseJson } from '../text/parse-json.ts';
import { replaceFile } from './atomic-file.ts';

const clockReadingSchema = z.object({
  /** The wall clock, in milliseconds since 1970. */
  now: z.number(),
  /**
   * Milliseconds since the machine booted, including the time in which it sleeps. A person cannot change this value.
   */
  uptimeMs: z.number(),
  /** The id of the current boot on Linux. '' on other systems. */
  boot: z.string(),
});
export type ClockReading = z.infer<typeof clockReadingSchema>;

const clockMarkPath = (stateDirectory: string): string => join(stateDirectory, 'clock.json');

/** Reads the wall clock and the uptime of this machine. @param now the time of the wall clock */
export async function readClocks(now: number): Promise<ClockReading> {
  const boot =
    process.platform === 'linux'
      ? await readFile('/proc/sys/kernel/random/boot_id', 'latin1').catch(() => '')
      : '';
  return { now, uptimeMs: Math.round(uptime() * 1_000), boot: boot.trim() };
}

/**
 * Reads the stored values. Returns undefined if the file is missing or damaged.
 * @throws the error of the file system
 */
export async function readClockMark(stateDirectory: string): Promise<ClockReading | undefined> {
  try {
    const text = await readFile(clockMarkPath(stateDirectory), 'utf8');
    return clockReadingSchema.safeParse(parseJson(text)).data;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

export async function writeClockMark(stateDirectory: string, reading: ClockReading): Promise<void> {
  await replaceFile(clockMarkPath(stateDirectory), `${JSON.stringify(reading)}\n`);
}

/** A clock has jumped if it differs from the expected time by more than one day. */
const MAX_DRIFT_MS = 86_400_000;

/**
 * After a reboot, the clock may be ahead by at most this time, because the machine may have been switched off. The
 * uptime does not include this time.
 */
const MAX_SWITCHED_OFF_MS = 60 * MAX_DRIFT_MS;

/**
 * Returns by how many milliseconds the wall clock has jumped since the stored time. Returns 0 if it has not jumped.
 * After a reboot, the real elapsed time is unknown, because the machine may have been off. A clock that is up to 60
 * days ahead then counts as correct.
 */
export function clockJumpMs(mark: ClockReading, { now, uptimeMs, boot }: ClockReading): number {
  // Only Linux has a boot id. On other systems, the machine always counts as rebooted, because a larger uptime does
  // not prove the opposite.
  const sameBoot = boot !== '' && boot === mark.boot && uptimeMs >= mark.uptimeMs;
  const jump = now - mark.now - (sameBoot ? uptimeMs - mark.uptimeMs : 0);
  const ahead = sameBoot ? MAX_DRIFT_MS : MAX_SWITCHED_OFF_MS;
  return jump > ahead || jump < -MAX_DRIFT_MS ? jump : 0;
}

export function clockJumpText(jump: number): string {
  const days = Math.round(Math.abs(jump) / MAX_DRIFT_MS);
  return `jumped ${days} ${days === 1 ? 'day' : 'days'} ${jump > 0 ? 'ahead' : 'back'}`;
}

/** The command with which the operator confirms that the clock is correct. */
export const CONFIRM_CLOCK_COMMAND = 'a2a-server confirm-clock';
