import { expect, test } from '@jest/globals';
import { nextStepForOtherVersion } from '../../../../../bridge/cli/doctor/check-server.ts';

test('doctor replaces an older server, and never a newer one: an older server cannot open its journal', () => {
  expect(nextStepForOtherVersion('0.9.0', '0.10.0')).toContain('server stop');
  expect(nextStepForOtherVersion('1.0.0-rc.1', '1.0.0')).toContain('server stop');
  expect(nextStepForOtherVersion('0.10.0', '0.9.0')).toBe(
    'Update this program, or run the newer one. The server can stay.',
  );
});
