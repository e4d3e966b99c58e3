/**
 * Stores the last time at which a server saw a correct clock, in the state directory. So a later start detects a clock
 * that has jumped.
 */
import { readFile } from 'node:fs/promises';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { systemErrorCode } from '../runtime/errors.ts';
import { replaceFile } from './atomic-file.ts';

const clockReadingSchema = z.object({
  /** The wall clock, in milliseconds since 1970. */
  now: z.number(),
  /** Milliseconds since the boot, including the time in which the machine sleeps. No person can set this clock. */
  uptimeMs: z.number(),
  /** The id of the boot on Linux. Empty on other systems. */
  boot: z.string(),
});
export type ClockReading = z.infer<typeof clockReadingSchema>;

const clockMarkPath = (stateDirectory: string): string => join(stateDirectory, 'clock.json');

/** Returns both clocks of this machine. @param now the wall clock */
export async function readClocks(now: number): Promise<ClockReading> {
  const boot =
    process.platform === 'linux'
      ? await readFile('/proc/sys/kernel/random/boot_id', 'latin1').catch(() => '')
      : '';
  return { now, uptimeMs: Math.round(uptime() * 1_000), boot: boot.trim() };
}

/** Reads the stored clocks. Returns undefined if the file is missing or damaged. @throws the error of the system */
export async function readClockMark(stateDirectory: string): Promise<ClockReading | undefined> {
  try {
    const parsed = clockReadingSchema.safeParse(
      JSON.parse(await readFile(clockMarkPath(stateDirectory), 'utf8')),
    );
    return parsed.data;
  } catch (error) {
    if (error instanceof SyntaxError || systemErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

export async function writeClockMark(stateDirectory: string, reading: ClockReading): Promise<void> {
  await replaceFile(clockMarkPath(stateDirectory), `${JSON.stringify(reading)}\n`);
}

/** A larger difference than one day is a jump. */
const TOLERANCE_MS = 86_400_000;

/** A machine may be off for this long. No clock of the machine counts that time. */
const OFF_MS = 60 * TOLERANCE_MS;

/**
 * Returns how many milliseconds the wall clock has jumped since the stored reading. Returns 0 if it has not jumped.
 * After a reboot, the elapsed time is unknown. So a clock up to 60 days ahead counts as correct, because the machine
 * may have been off.
 */
export function clockJump(mark: ClockReading, { now, uptimeMs, boot }: ClockReading): number {
  // Only Linux has a boot id. On other systems, a longer uptime does not prove that the boot is the same.
  const sameBoot = boot !== '' && boot === mark.boot && uptimeMs >= mark.uptimeMs;
  const jump = now - mark.now - (sameBoot ? uptimeMs - mark.uptimeMs : 0);
  const ahead = sameBoot ? TOLERANCE_MS : OFF_MS;
  return jump > ahead || jump < -TOLERANCE_MS ? jump : 0;
}

export function jumpText(jump: number): string {
  const days = Math.round(Math.abs(jump) / TOLERANCE_MS);
  return `jumped ${days} ${days === 1 ? 'day' : 'days'} ${jump > 0 ? 'ahead' : 'back'}`;
}

/** The operator runs this command to confirm that the clock is correct. */
export const CONFIRM_CLOCK = 'a2a-server confirm-clock';
