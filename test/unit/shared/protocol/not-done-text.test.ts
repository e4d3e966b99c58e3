import { describe, expect, test } from '@jest/globals';
import { notDoneText } from '../../../../shared/protocol/not-done-text.ts';

const call = (title: string, state: string, tool = 'write-file', toolId: string | null = null) => ({
  tool,
  title,
  state,
  toolId,
});

describe('the list of calls that a completed task did not do', () => {
  test.each([
    [[call('Write a.txt', 'denied')], 'not done: Write a.txt (denied)'],
    [
      [call('Run a', 'stopped'), call('Write b', 'ok'), call('Run c', 'skipped')],
      'not done: Run a (stopped), Run c (skipped)',
    ],
    [
      [call('Run a', 'skipped', 'run-shell-command', 'tool-1')],
      'not done: Run a (interrupted, outcome unknown)',
    ],
    [[call('Write a', 'ok'), call('Ask', 'answered'), call('Run b', 'error')], ''],
    [[], ''],
  ])('the list has each call with its reason: %j', (calls, words) => {
    expect(notDoneText('completed', calls)).toBe(words);
  });

  test('the list omits a call that succeeded at a later attempt', () => {
    expect(notDoneText('completed', [call('Write a', 'denied'), call('Write a', 'ok')])).toBe('');
    expect(notDoneText('completed', [call('Write a', 'ok'), call('Write a', 'denied')])).toBe(
      'not done: Write a (denied)',
    );
    expect(notDoneText('completed', [call('a', 'denied', 'x'), call('a', 'ok', 'y')])).toBe(
      'not done: a (denied)',
    );
  });

  test('the list has the last five calls, each once, and the number of the others; hidden characters are shown', () => {
    const calls = [...Array(7).keys()].map((at) => call(`Write ${String(at)}`, 'denied'));
    expect(notDoneText('completed', [...calls, call('Write 6', 'denied')])).toBe(
      'not done: Write 2 (denied), Write 3 (denied), Write 4 (denied), Write 5 (denied), Write 6 (denied), and 2 more',
    );
    expect(notDoneText('completed', [call('a\u202eb', 'denied')])).not.toContain('\u202e');
  });

  test.each(['working', 'failed', 'canceled', 'rejected'])(
    'the list is empty for a task that is %s',
    (state) => {
      expect(notDoneText(state, [call('Write a', 'denied')])).toBe('');
    },
  );
});
