import { expect, test } from '@jest/globals';
import { otherVersionNote } from '../../../../bridge/local-server/other-version-note.ts';

test.each([
  ['0.9.0', '0.10.0', /still runs version 0\.9\.0.*server stop/],
  ['1.0.0-rc.1', '1.0.0', /still runs version 1\.0\.0-rc\.1.*server stop/],
  ['1.0.0', '1.0.0-rc.1', /still has version 1\.0\.0-rc\.1.*Restart the MCP client/],
  ['0.10.0', '0.9.0', /still has version 0\.9\.0.*Restart the MCP client/],
])(
  'for a server of version %s and a program of version %s, the note says what to do',
  (running, own, note) => {
    expect(otherVersionNote(running, own)).toMatch(note);
  },
);

test('there is no note for the same version, or for an unknown one', () => {
  expect(otherVersionNote('1.0.0', '1.0.0')).toBeUndefined();
  expect(otherVersionNote('unknown', '1.0.0')).toBeUndefined();
  expect(otherVersionNote('1.0.0', 'unknown')).toBeUndefined();
});
