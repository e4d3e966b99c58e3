/**
 * Creates the check of this machine's clock. The check stores its readings in the state directory, and logs when the
 * clock becomes implausible or plausible again.
 */
import { systemClock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logging.ts';
import {
  CONFIRM_CLOCK_COMMAND,
  clockJumpText,
  readClockMark,
  readClocks,
  writeClockMark,
} from '../../shared/state/clock-mark.ts';
import { ClockCheck } from '../executor/clock-check.ts';
import type { ServerSettings } from './settings/settings.ts';

export function createClockCheck({ stateDir }: ServerSettings, log: Logger): ClockCheck {
  return new ClockCheck({
    marks: {
      read: () => readClockMark(stateDir),
      write: (reading) => writeClockMark(stateDir, reading),
    },
    readClocks: () => readClocks(systemClock.now()),
    onChange: (jump) => {
      if (jump === 0)
        log.info(
          'the clock is plausible again: the server ends expired tasks and deletes old sessions again',
        );
      else log.error(clockProblemText(jump));
    },
  });
}

/** Returns a sentence about the wrong clock. @param jump the number of milliseconds by which the clock is wrong */
export function clockProblemText(jump: number): string {
  return `The clock ${clockJumpText(jump)}, so no task expires and no session is deleted. If the clock is correct, run: ${CONFIRM_CLOCK_COMMAND}. Otherwise set the clock.`;
}
