import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { parseProcessStat } from '../../../../shared/runtime/process-stat.ts';

// Lines of Linux 6, shortened after the start time.
const LINES = {
  running: '25866 (sleep) S 25817 25817 27590 0 -1 4194304 98 0 0 0 0 0 0 0 20 0 1 0 2728800 0 0',
  zombie: '25868 (sleep) Z 25866 25817 27590 0 -1 4227084 98 0 0 0 0 0 0 0 20 0 1 0 2728805 0 0',
  // A Python program whose main thread has called pthread_exit(3). Another thread runs.
  withoutMainThread:
    '25820 (python3) Z 25817 25817 27590 0 -1 4227084 2955 6537 3 0 4 0 4 0 20 0 2 0 2728703 0 0',
};

test.each([
  [LINES.running, { ended: false, group: 25817, started: '2728800' }],
  [LINES.zombie, { ended: true, group: 25817, started: '2728805' }],
  [LINES.withoutMainThread, { ended: false, group: 25817, started: '2728703' }],
  [LINES.running.replace('(sleep)', '(a) Z 1 2)'), { ended: false, group: 25817, started: '2728800' }],
])('%s', (line, stat) => {
  expect(parseProcessStat(line)).toEqual(stat);
});

test('this process runs', () => {
  if (process.platform !== 'linux') return;
  expect(parseProcessStat(readFileSync('/proc/self/stat', 'latin1'))).toMatchObject({ ended: false });
});
