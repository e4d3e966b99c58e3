/** Checks whether the clock has jumped since a local server last stored the time. */
import {
  clockJumpMs,
  CONFIRM_CLOCK_COMMAND,
  clockJumpText,
  readClockMark,
  readClocks,
} from '../../../shared/state/clock-mark.ts';
import { type CheckResult, warnCheckResult } from '../../../shared/runtime/check-result.ts';

/** Compares the clock with the time that a local server has stored. Returns undefined if the clock is plausible. */
export async function checkClockMark(stateDirectory: string): Promise<CheckResult | undefined> {
  const mark = await readClockMark(stateDirectory).catch(() => undefined);
  const jump = mark === undefined ? 0 : clockJumpMs(mark, await readClocks(Date.now()));
  if (jump === 0) return undefined;
  return warnCheckResult(
    'clock',
    `it ${clockJumpText(jump)} since the local server last ran; the server ends no task and deletes no session`,
    `If the clock is wrong, set it. If it is correct, run: ${CONFIRM_CLOCK_COMMAND} --state-dir ${stateDirectory}`,
  );
}
