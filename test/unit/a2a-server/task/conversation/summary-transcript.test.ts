import { describe, expect, it } from '@jest/globals';
import type { ConversationSegment } from '../../../../../a2a-server/task/conversation/conversation.ts';
import {
  fallbackSummary,
  summaryTranscript,
} from '../../../../../a2a-server/task/conversation/summary-transcript.ts';

const call = (name: string) => ({ modelCallId: name, tool: 'read-file', input: { path: name } });
const result = (name: string, text: string, isError = false) => ({
  modelCallId: name,
  tool: 'read-file',
  text,
  isError,
});

/** Returns a turn that reads a file. */
function turn(name: string, text: string, isError = false): ConversationSegment {
  return {
    kind: 'turn',
    steps: [
      { role: 'assistant', text: `I read ${name}.`, calls: [call(name)] },
      { role: 'tool', results: [result(name, text, isError)] },
    ],
  };
}
const task: ConversationSegment = { kind: 'task', steps: [{ role: 'user', text: 'Read the files.' }] };
const summary: ConversationSegment = {
  kind: 'summary',
  steps: [{ role: 'user', text: 'Until now: nothing.' }],
};
const HEAD =
  'The turns after that do not fit into the context window and could not be summarised. Their calls, oldest first:';

describe('the transcript for a summary', () => {
  const whole = [
    'PERSON: Read the files.',
    'AGENT: I read a.\nAGENT CALLS read-file {"path":"a"}',
    'RESULT OF read-file: one',
    'AGENT: I read b.\nAGENT CALLS read-file {"path":"b"}',
    'FAILED read-file: gone',
  ].join('\n\n');

  it('the transcript has every step, and is complete if its length equals the limit', () => {
    const segments = [task, turn('a', 'one'), turn('b', 'gone', true)];
    expect(summaryTranscript(segments, whole.length)).toBe(whole);
    expect(summaryTranscript(segments, whole.length - 1)).toContain('left out');
  });

  it('the transcript shortens the long pieces first', () => {
    const text = summaryTranscript([task, turn('a', 'x'.repeat(20_000)), turn('b', 'two')], 7_000);
    expect(text.length).toBeLessThanOrEqual(7_000);
    expect(text).toContain('RESULT OF read-file: two');
    expect(text.match(/left out/g)).toHaveLength(1);
    // The transcript shortens a piece only as far as the limit requires.
    expect(
      summaryTranscript([task, turn('a', 'x'.repeat(20_000)), turn('b', 'two')], Buffer.byteLength(text)),
    ).toBe(text);
  });

  it('the transcript halves the limit of a piece until the text fits', () => {
    const text = summaryTranscript([task, turn('a', 'x'.repeat(20_000)), turn('b', 'two')], 2_500);
    expect(text.match(/\[… \d+ characters left out …\]/g)).toEqual(['[… 18500 characters left out …]']);
    expect(text).toMatch(/^PERSON: Read the files\.\n[^]*RESULT OF read-file: two$/);
  });
});

describe('a text whose characters have several bytes', () => {
  const NOTE = /\[… \d+ characters left out …\]/;

  it('the transcript has at most the requested bytes, and a note', () => {
    const segments = [task, turn('a', '猫'.repeat(20_000)), turn('b', '二')];
    const text = summaryTranscript(segments, 7_000);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(7_000);
    expect(text).toMatch(NOTE);
    expect(text).toContain('RESULT OF read-file: 二');
    const cut = summaryTranscript([turn('a', '🦉'.repeat(20_000)), turn('b', 'b'.repeat(500))], 300);
    expect(Buffer.byteLength(cut.replace(NOTE, ''))).toBeLessThanOrEqual(302);
    // Half a character would be sent as U+FFFD.
    expect(Buffer.from(cut).toString()).toBe(cut);
  });

  it('the list of omitted calls has at most the requested bytes', () => {
    const segments = Array.from({ length: 30 }, (_, at) => turn(String(at), '猫'.repeat(100)));
    const text = fallbackSummary(segments, 2_000);
    expect(Buffer.byteLength(text.replace(/\n- \(\d+ more[^\n]*/, ''))).toBeLessThanOrEqual(2_000);
    expect(text).toContain('"path":"29"');
  });
});

describe('the list of the calls that a conversation omits', () => {
  it('the list follows the earlier summary, and marks the calls that failed', () => {
    expect(fallbackSummary([task, summary, turn('a', 'one\n  two'), turn('b', 'gone', true)], 2_000)).toBe(
      [
        `Until now: nothing.\n\n${HEAD}`,
        '- read-file {"path":"a"}: one two',
        '- read-file {"path":"b"}: failed: gone',
      ].join('\n'),
    );
  });

  it('a long earlier summary keeps a third of the characters', () => {
    const long: ConversationSegment = { kind: 'summary', steps: [{ role: 'user', text: 's'.repeat(5_000) }] };
    expect(fallbackSummary([long, turn('a', 'one')], 900)).toBe(
      `${'s'.repeat(200)}\n[… 4700 characters left out …]\n${'s'.repeat(100)}\n\n${HEAD}\n- read-file {"path":"a"}: one`,
    );
  });

  it('the list keeps the newest calls that fit, and counts the others', () => {
    const line = '- read-file {"path":"c"}: three';
    const segments = [turn('a', 'one'), turn('b', 'two'), turn('c', 'three')];
    const most = HEAD.length + line.length + 1;
    expect(fallbackSummary(segments, most)).toBe(`${HEAD}\n- (2 more before these)\n${line}`);
    expect(fallbackSummary(segments, most - 1)).toBe(`${HEAD}\n- (3 more before these)`);
  });

  it('the list shortens a long result', () => {
    const [, line = ''] = fallbackSummary([turn('a', 'x'.repeat(500))], 2_000).split('\n');
    expect(line).toBe(`- read-file {"path":"a"}: ${'x'.repeat(199)}…`);
  });
});
