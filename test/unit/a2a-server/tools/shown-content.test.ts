import { expect, test } from '@jest/globals';
import { outdatedEvent } from '../../../../a2a-server/tools/shown-content.ts';
import type { PreviewWithBasis } from '../../../../a2a-server/tools/tool.ts';

const named = { callId: 'call-1', tool: 'send-mail', title: 'Send a mail' };
const mail = (to: unknown): PreviewWithBasis => ({
  basis: 'hash-of-the-tool',
  preview: { type: 'json', value: { to, text: 'hi' } },
});

test.each(['ada@example.org', ['ada@example.org'], { name: 'ada' }])(
  'J2 a call that was read from the journal again is not outdated (to: %j)',
  (to) => {
    const stored: unknown = JSON.parse(JSON.stringify(to));
    expect(outdatedEvent({ ...named, ...mail(stored) }, mail(to))).toBeUndefined();
  },
);

test('D2 a call is outdated if its content or its place differs, and the event has the new place', () => {
  const shown = { ...named, ...mail('a.txt') };
  const moved = mail('b.txt');
  expect(outdatedEvent(shown, moved)).toEqual({
    type: 'tool.outdated',
    ...named,
    ...moved,
    place: 'b.txt',
  });
  expect(outdatedEvent(shown, { ...mail('a.txt'), basis: 'another' })).toMatchObject({ basis: 'another' });
});
