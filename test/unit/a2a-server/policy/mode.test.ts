import { describe, expect, it } from '@jest/globals';
import {
  checkModeSettings,
  isReadOnlyMode,
  runsWithoutAsking,
  taskModeOf,
} from '../../../../a2a-server/policy/mode.ts';
import { newTaskSettings } from '../../../../a2a-server/executor/new-task-settings.ts';
import { firstSnapshot } from '../../../../a2a-server/task/fold.ts';
import type { TaskSettings } from '../../../../shared/protocol/tool-approval.ts';

function taskWith(settings: TaskSettings) {
  return firstSnapshot('t', {
    seq: 1,
    at: 1,
    event: { type: 'task.created', sessionId: 's', principal: 'p', settings },
  });
}

describe('checkLeave', () => {
  it.each([
    { mode: 'ask', autoExecute: true },
    { mode: 'auto', autoExecute: false },
    { mode: 'plan', autoExecute: true },
    { mode: 'auto', readOnly: true },
    { mode: 'accept-edits', readOnly: true },
    { mode: 'plan', readOnly: false },
  ] as const)('refuses %j, which contradicts itself', (settings) => {
    expect(() => checkModeSettings(settings)).toThrow(expect.objectContaining({ reason: 'MALFORMED' }));
  });

  it.each([
    { mode: 'auto', autoExecute: true },
    { mode: 'ask', autoExecute: false },
    { mode: 'plan', readOnly: true },
    { mode: 'ask', readOnly: true },
    { autoExecute: true, readOnly: true },
    {},
  ] as const)('accepts %j', (settings) => {
    expect(() => checkModeSettings(settings)).not.toThrow();
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
  ] as const)('%j is %s; read-only: %j; runs without asking: %j', (settings, mode, readOnly, unasked) => {
    expect(taskModeOf(settings)).toBe(mode);
    expect(isReadOnlyMode(settings)).toBe(readOnly);
    expect(runsWithoutAsking(settings)).toBe(unasked);
  });
});

describe('beginningSettings', () => {
  it.each([
    // A task does not inherit a mode that acts without asking. It inherits a restriction.
    [{}, { mode: 'auto' }, 'ask', {}],
    [{}, { mode: 'accept-edits' }, 'ask', {}],
    [{}, { autoExecute: true }, 'ask', {}],
    [{}, { mode: 'plan' }, 'ask', { mode: 'plan' }],
    [{}, { mode: 'ask' }, 'auto', { mode: 'ask' }],
    [{}, { readOnly: true }, 'auto', { readOnly: true }],
    // The message's settings come first.
    [{ mode: 'auto' }, { mode: 'plan' }, 'ask', { mode: 'auto' }],
    [{ autoExecute: true }, { mode: 'plan' }, 'ask', { autoExecute: true }],
    [{ autoExecute: false }, {}, 'auto', { autoExecute: false }],
    // Then the server's default applies.
    [{}, {}, 'accept-edits', { mode: 'accept-edits' }],
    [{}, {}, 'ask', {}],
    [{ readOnly: true }, {}, 'auto', { readOnly: true }],
    [{ readOnly: true }, {}, 'plan', { readOnly: true, mode: 'plan' }],
  ] as const)('with the setting %j after %j and the default %s is %j', (asked, previous, mode, expected) => {
    expect(newTaskSettings(asked, taskWith(previous), mode)).toEqual(expected);
  });

  it('refuses a mode that contradicts an inherited restriction', () => {
    expect(() => newTaskSettings({ mode: 'auto' }, taskWith({ readOnly: true }), 'ask')).toThrow(
      expect.objectContaining({ reason: 'MALFORMED' }),
    );
  });
});
