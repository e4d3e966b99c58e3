import { describe, expect, test } from '@jest/globals';
import {
  keyboardCommandOf,
  type KeyPress,
} from '../../../../../../a2a-server/page/browser/app/keyboard-commands.ts';

const press = (key: string, more: Partial<KeyPress> = {}): KeyPress => ({
  key,
  ctrlKey: false,
  altKey: false,
  metaKey: false,
  shiftKey: false,
  repeat: false,
  isComposing: false,
  defaultPrevented: false,
  ...more,
});

describe('the keys of the page', () => {
  test.each([
    ['j', 'next'],
    ['k', 'previous'],
    ['a', 'approve'],
    ['d', 'deny'],
    ['e', 'edit'],
    ['/', 'search'],
  ])('the key %s is the command %s, also with Caps Lock', (key, command) => {
    expect(keyboardCommandOf(press(key), false)).toBe(command);
    expect(keyboardCommandOf(press(key.toUpperCase()), false)).toBe(command);
  });

  test('the keys ? and / work with Shift, which many keyboards need for them', () => {
    expect(keyboardCommandOf(press('?', { shiftKey: true }), false)).toBe('help');
    expect(keyboardCommandOf(press('/', { shiftKey: true }), false)).toBe('search');
  });

  test.each(['ctrlKey', 'altKey', 'metaKey', 'shiftKey', 'isComposing', 'defaultPrevented'] as const)(
    'a letter with %s is not a command',
    (modifier) => {
      for (const key of ['j', 'a', 'd', 'e'])
        expect(keyboardCommandOf(press(key, { [modifier]: true }), false)).toBeUndefined();
    },
  );

  test('a key in a field is text, and an unknown key is nothing', () => {
    for (const key of ['j', 'a', 'd', 'e', '/', '?'])
      expect(keyboardCommandOf(press(key), true)).toBeUndefined();
    for (const key of ['x', 'Enter', ' ', 'Tab', 'F1'])
      expect(keyboardCommandOf(press(key), false)).toBeUndefined();
  });

  test('a key that is held down moves on, and decides nothing', () => {
    expect(keyboardCommandOf(press('j', { repeat: true }), false)).toBe('next');
    for (const key of ['a', 'd', 'e'])
      expect(keyboardCommandOf(press(key, { repeat: true }), false)).toBeUndefined();
  });
});
