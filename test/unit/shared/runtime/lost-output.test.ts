import { expect, it } from '@jest/globals';
import { lostOutputEnd } from '../../../../shared/runtime/lost-output.ts';

const failure = (code: string): Error => Object.assign(new Error(`${code}: text of the system`), { code });

it('a reader that closes the pipe early is not a failure', () =>
  expect(lostOutputEnd('tool', failure('EPIPE'))).toEqual({ exitCode: 0 }));

it('a full disk is a failure, so a script does not read half an output as the whole', () =>
  expect(lostOutputEnd('tool', failure('ENOSPC'))).toEqual({
    exitCode: 1,
    text: 'tool: The output cannot be written: ENOSPC: text of the system. A part of it is missing.',
  }));
