import { describe, expect, it } from '@jest/globals';
import {
  requireConsistentMode,
  isReadOnlyMode,
  mayRunSomeUnasked,
  taskModeOf,
} from '../../../../a2a-server/policy/task-mode.ts';
import { newTaskSettings } from '../../../../a2a-server/executor/messages/new-task-settings.ts';
import { firstSnapshot } from '../../../../a2a-server/task/fold.ts';
import type { TaskSettings } from '../../../../shared/protocol/tool-approval.ts';

function taskWith(settings: TaskSettings) {
  return firstSnapshot('t', {
    seq: 1,
    at: 1,
    event: { type: 'task.created', sessionId: 's', principal: 'p', settings },
  });
}

describe('checkLeave, the check of a task’s mode and permissions', () => {
  it.each([
    { mode: 'ask', autoExecute: true },
    { mode: 'auto', autoExecute: false },
    { mode: 'plan', autoExecute: true },
    { mode: 'auto', readOnly: true },
    { mode: 'accept-edits', readOnly: true },
    { mode: 'plan', readOnly: false },
  ] as const)('checkLeave refuses %j, which contradicts itself', (settings) => {
    expect(() => requireConsistentMode(settings)).toThrow(expect.objectContaining({ reason: 'MALFORMED' }));
  });

  it.each([
    { mode: 'auto', autoExecute: true },
    { mode: 'ask', autoExecute: false },
    { mode: 'plan', readOnly: true },
    { mode: 'ask', readOnly: true },
    { autoExecute: true, readOnly: true },
    {},
  ] as const)('checkLeave accepts %j', (settings) => {
    expect(() => requireConsistentMode(settings)).not.toThrow();
  });
});

describe('the mode of a task', () => {
  it.each([
    [{}, 'ask', false, false],
    [{ autoExecute: false }, 'ask', false, false],
    [{ autoExecute: true }, 'auto', false, true],
    [{ mode: 'ask', autoExecute: false }, 'ask', false, false],
    [{ mode: 'accept-edits' }, 'accept-edits', false, true],
    [{ mode: 'plan' }, 'plan', true, false],
    [{ readOnly: true }, 'ask', true, false],
    [{ readOnly: false }, 'ask', false, false],
    [{ readOnly: true, autoExecute: true }, 'auto', true, true],
  ] as const)(
    '%j gives the mode %s; read-only: %j; runs without a question: %j',
    (settings, mode, readOnly, unasked) => {
      expect(taskModeOf(settings)).toBe(mode);
      expect(isReadOnlyMode(settings)).toBe(readOnly);
      expect(mayRunSomeUnasked(settings)).toBe(unasked);
    },
  );
});

describe('beginningSettings, the settings of a session’s next task', () => {
  it.each([
    // The next task does not inherit a mode that acts without asking, but inherits a restriction.
    [{}, { mode: 'auto' }, 'ask', {}],
    [{}, { mode: 'accept-edits' }, 'ask', {}],
    [{}, { autoExecute: true }, 'ask', {}],
    [{}, { mode: 'plan' }, 'ask', { mode: 'plan' }],
    [{}, { mode: 'ask' }, 'auto', { mode: 'ask' }],
    [{}, { readOnly: true }, 'auto', { readOnly: true }],
    // The settings in the message have priority over the session's settings.
    [{ mode: 'auto' }, { mode: 'plan' }, 'ask', { mode: 'auto' }],
    [{ autoExecute: true }, { mode: 'plan' }, 'ask', { autoExecute: true }],
    [{ autoExecute: false }, {}, 'auto', { autoExecute: false }],
    // Without any settings, the server's default mode applies.
    [{}, {}, 'accept-edits', { mode: 'accept-edits' }],
    [{}, {}, 'ask', {}],
    [{ readOnly: true }, {}, 'auto', { readOnly: true }],
    [{ readOnly: true }, {}, 'plan', { readOnly: true, mode: 'plan' }],
  ] as const)(
    'with the setting %j after %j and the default %s, the settings are %j',
    (asked, previous, mode, expected) => {
      expect(newTaskSettings(asked, taskWith(previous), mode)).toEqual(expected);
    },
  );

  it('a mode that contradicts an inherited restriction is refused', () => {
    expect(() => newTaskSettings({ mode: 'auto' }, taskWith({ readOnly: true }), 'ask')).toThrow(
      expect.objectContaining({ reason: 'MALFORMED' }),
    );
  });
});
