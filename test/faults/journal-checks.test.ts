/** The checks of the fault harness. They must detect each kind of loss. */
import { describe, expect, it } from '@jest/globals';
import type { StreamEvent } from '../support/wire-event.ts';
import { checkEffect, mustBeGapFree, mustContinue, type CallRecord } from './journal-checks.ts';

function event(seq: number, data = `event ${seq}`): StreamEvent {
  return {
    taskId: 'task',
    sessionId: 'session',
    seq,
    type: 'status',
    state: 'WORKING',
    pending: [],
    activity: undefined,
    cost: undefined,
    text: '',
    data,
  };
}

const started = (seq: number, tool: string): StreamEvent => ({
  ...event(seq),
  activity: { type: 'tool.started', callId: 'c', tool, title: 'T', toolId: 't' },
});

const events = (...seqs: number[]): StreamEvent[] => seqs.map((seq) => event(seq));

describe("the check of a reader's events against the journal", () => {
  it('the check passes if the events are the beginning of the journal', () => {
    expect(() => mustContinue(events(1, 3), events(1, 3, 4))).not.toThrow();
    expect(() => mustContinue([], events(1))).not.toThrow();
  });

  it.each([
    ['lost', events(1, 2), events(1)],
    ['gap', events(1, 3), events(1, 2, 3)],
    ['repeat', events(1, 1), events(1, 2)],
    ['now is', events(1, 2), [event(1), event(2, 'another')]],
  ])('the check fails: %s', (word, before, after) => {
    expect(() => mustContinue(before, after)).toThrow(word);
  });

  it('the check accepts a position without an event if the journal has a message of the person there', () => {
    expect(() => mustBeGapFree(events(1, 3, 4), 4, 1)).not.toThrow();
    expect(() => mustBeGapFree(events(1, 3, 4), 4, 0)).toThrow('explain');
    expect(() => mustBeGapFree(events(1, 4), 4, 1)).toThrow('explain');
    expect(() => mustBeGapFree(events(1, 3), 4, 2)).toThrow('ends at position 3');
  });

  it('the check accepts a position without an event if the journal has saved file content there, directly after the start of a tool that changes files', () => {
    expect(() => mustBeGapFree([started(1, 'append-file'), event(3)], 3, 0)).not.toThrow();
    expect(() => mustBeGapFree([started(1, 'append-file'), event(4)], 4, 0)).toThrow('explain');
    expect(() => mustBeGapFree([started(1, 'run-shell-command'), event(3)], 3, 0)).toThrow('explain');
    expect(() => mustBeGapFree([event(1), event(3)], 3, 0)).toThrow('explain');
  });
});

/** Effects that happened this number of times with the model's input, and never with an edited input. */
const asked = (times: number): { asked: number; edited: number } => ({ asked: times, edited: 0 });

function call(parts: Partial<CallRecord>): CallRecord {
  const approved = { decisions: ['approve'], starts: 1, ends: ['ok'] };
  return { callId: 'c1', title: 'Append to e1.txt', ...approved, ...parts };
}

describe('the check of an effect in a file', () => {
  it.each([
    ['once', {}, 1],
    ['denied', { decisions: ['deny'], starts: 0, ends: ['denied'] }, 0],
    ['unknown, run again', { decisions: ['approve', 'approve'], starts: 2, ends: ['unknown', 'ok'] }, 2],
    ['unknown, skipped, had happened', { decisions: ['approve', 'deny'], ends: ['unknown'] }, 1],
    ['unknown, skipped, had not happened', { decisions: ['approve', 'deny'], ends: ['unknown'] }, 0],
  ])('the check reports: %s', (end, parts, effects) => {
    expect(checkEffect('e1', [call(parts)], { effects: asked(effects), asks: true })).toBe(end);
  });

  it.each([
    ['happened more often', {}, 2],
    ['did not happen', {}, 0],
    ['more often than it was allowed', { starts: 2, ends: ['unknown', 'ok'] }, 1],
    ['without an end', { ends: [] }, 1],
    ['finished twice', { decisions: ['approve', 'approve'], starts: 2, ends: ['ok', 'ok'] }, 2],
    ['never came to an end', { starts: 0, ends: [] }, 0],
    ['happened more often', { decisions: ['deny'], starts: 0, ends: ['denied'] }, 1],
  ])('the check fails: %s', (words, parts, effects) => {
    expect(() => checkEffect('e1', [call(parts)], { effects: asked(effects), asks: true })).toThrow(words);
  });

  it('the check compares the effect with the edited input', () => {
    const edited = call({ decisions: ['edit'] });
    const check = (effects: { asked: number; edited: number }) => () =>
      checkEffect('e1', [edited], { effects, asks: true });
    expect(check({ asked: 0, edited: 1 })()).toBe('once, as edited');
    expect(check({ asked: 1, edited: 0 })).toThrow('another input');
    expect(check({ asked: 1, edited: 1 })).toThrow('another input');
    expect(check({ asked: 0, edited: 2 })).toThrow('happened more often');
    expect(() => checkEffect('e1', [call({})], { effects: { asked: 0, edited: 1 }, asks: true })).toThrow(
      'another input',
    );
  });

  it('the check fails if the call is missing, or if two calls have the effect', () => {
    expect(() => checkEffect('e2', [call({})], { effects: asked(0), asks: true })).toThrow('lost');
    expect(() =>
      checkEffect('e1', [call({}), call({ callId: 'c2' })], { effects: asked(1), asks: true }),
    ).toThrow('two calls');
  });
});
