/**
 * Stores the last time at which a server saw the right clock, in the state directory. So a later start detects a clock
 * that has jumped.
 */
import { readFile } from 'node:fs/promises';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { systemErrorCode } from '../runtime/errors.ts';
import { replaceFile } from './atomic-file.ts';

const clockReadingSchema = z.object({
  /** Wall clock, in milliseconds since the epoch. */
  now: z.number(),
  /**
   * Milliseconds since the boot. This clock includes the time in which the machine sleeps, and no person can set it.
   */
  uptimeMs: z.number(),
  /** The id of the boot on Linux; empty on other systems. */
  boot: z.string(),
});
export type ClockReading = z.infer<typeof clockReadingSchema>;

const clockMarkPath = (stateDirectory: string): string => join(stateDirectory, 'clock.json');

/** @param now the wall clock. @returns both clocks of this machine */
export async function readClocks(now: number): Promise<ClockReading> {
  const boot =
    process.platform === 'linux'
      ? await readFile('/proc/sys/kernel/random/boot_id', 'latin1').catch(() => '')
      : '';
  return { now, uptimeMs: Math.round(uptime() * 1_000), boot: boot.trim() };
}

/** @returns undefined if there is no mark, or a damaged one. @throws the error of the system */
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

/** A larger difference than this is a jump, in milliseconds. */
const TOLERANCE_MS = 86_400_000;

/** In milliseconds: a machine may be off for this long. No clock counts that time. */
const OFF_MS = 60 * TOLERANCE_MS;

/**
 * By how many milliseconds the wall clock has jumped since the mark; 0 if it has not. After a reboot, the time since
 * the mark is unknown. A clock up to 60 days ahead then counts as right: the machine may have been off. Pure.
 */
export function clockJump(mark: ClockReading, { now, uptimeMs, boot }: ClockReading): number {
  // Only Linux has an id of the boot. On other systems, a longer uptime does not prove that the boot is the same.
  const sameBoot = boot !== '' && boot === mark.boot && uptimeMs >= mark.uptimeMs;
  const jump = now - mark.now - (sameBoot ? uptimeMs - mark.uptimeMs : 0);
  const ahead = sameBoot ? TOLERANCE_MS : OFF_MS;
  return jump > ahead || jump < -TOLERANCE_MS ? jump : 0;
}

/** A jump for people, for example `jumped 400 days ahead`. */
export function jumpText(jump: number): string {
  const days = Math.round(Math.abs(jump) / TOLERANCE_MS);
  return `jumped ${days} ${days === 1 ? 'day' : 'days'} ${jump > 0 ? 'ahead' : 'back'}`;
}

/** The command by which the operator confirms that the clock is right. */
export const CONFIRM_CLOCK = 'a2a-server confirm-clock';
