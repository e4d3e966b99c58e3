import { describe, expect, it } from '@jest/globals';
import { commandWords } from '../../../../../bridge/cli/models/model-change.ts';

describe('the key command of `model set`', () => {
  it('is split into a program and its arguments', () => {
    expect(commandWords('pass show "anthropic work"')).toEqual(['pass', 'show', 'anthropic work']);
    expect(commandWords('security find-generic-password -s risk-analysis -w')).toHaveLength(5);
  });

  it.each(['pass show $NAME', 'cat key | head -1', ''])(
    'is refused if it needs a shell or is empty: %j',
    (text) => {
      expect(() => commandWords(text)).toThrow(/--key-command/);
    },
  );

  it.each(['echo sk-proj-0123456789abcdefghij', `sh -c 'echo AIzaSyA0123456789abcdefghij'`])(
    'is refused if it contains a key, because the settings would hold it in clear: %j',
    (text) => {
      expect(() => commandWords(text)).toThrow(/contains a key itself.*Store the key in a password manager/);
    },
  );
});
