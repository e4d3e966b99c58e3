import { expect, it } from '@jest/globals';
import { journalCommandArguments } from '../../../../../bridge/cli/commands/server-journal.ts';

it('a2a-server gets the settings of the command, so it reads the same configuration file', () =>
  expect(
    journalCommandArguments(
      { options: { json: true, replace: true }, settings: { stateDir: '/s', configFile: '/c.json' } },
      'restore',
      ['-x'],
    ),
  ).toEqual(['restore', '--json', '--replace', '--state-dir', '/s', '--config', '/c.json', '--', '-x']));
