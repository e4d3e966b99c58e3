import { describe, expect, it } from '@jest/globals';
import { replaceChoiceNumbers } from '../../../../../bridge/cli/decisions/typed-answer.ts';

const choices = [{ label: 'red' }, { label: 'light blue' }, { label: '7' }];

describe('the number that a person types for a choice', () => {
  it.each([
    [false, '2', 'light blue'],
    [false, ' 1 ', 'red'],
    [false, '7', '7'],
    [false, '4', '4'],
    [false, '0', '0'],
    [false, 'light blue', 'light blue'],
    [false, '1, 2', '1, 2'],
    [true, '1, 2', ['red', 'light blue']],
    [true, '1 3', ['red', '7']],
    [true, '1, red', '1, red'],
    [true, '', ''],
  ])('if several choices are allowed (%j), %j means %j', (multiple, typed, answer) => {
    expect(replaceChoiceNumbers({ text: 'Which?', choices, multiple }, typed)).toEqual(answer);
  });

  it('the typed text stays unchanged if there are no choices', () => {
    expect(replaceChoiceNumbers({ text: 'How many?' }, '1')).toBe('1');
  });
});
