import { describe, expect, it } from '@jest/globals';
import { splitCommandLine } from '../../../../../bridge/cli/models/edit-model-settings.ts';

describe('the key command of `model set`', () => {
  it('the key command is split into a program and its arguments', () => {
    expect(splitCommandLine('pass show "anthropic work"')).toEqual(['pass', 'show', 'anthropic work']);
    expect(splitCommandLine('security find-generic-password -s risk-analysis -w')).toHaveLength(5);
  });

  it.each(['pass show $NAME', 'cat key | head -1', ''])(
    'a key command is refused if it needs a shell or is empty: %j',
    (text) => {
      expect(() => splitCommandLine(text)).toThrow(/--key-command/);
    },
  );

  it.each(['echo sk-proj-0123456789abcdefghij', `sh -c 'echo AIzaSyA0123456789abcdefghij'`])(
    'a key command is refused if it contains a key, because the settings would contain the key as plain text: %j',
    (text) => {
      expect(() => splitCommandLine(text)).toThrow(
        /contains a key itself.*Store the key in a password manager/,
      );
    },
  );
});
