import { describe, expect, it } from '@jest/globals';
import { buildConversation } from '../../../../../a2a-server/task/conversation/conversation.ts';
import { estimatePromptTokens } from '../../../../../a2a-server/task/conversation/context-reduction.ts';
import type { TaskEvent } from '../../../../../a2a-server/task/events.ts';
import type { Snapshot } from '../../../../../a2a-server/task/snapshot.ts';
import type { StoredFile } from '../../../../../a2a-server/task/stored-file.ts';
import { entriesOf, snapshotOf } from '../../../../support/long-session.ts';
import { foldEntry } from '../../../../../a2a-server/task/fold.ts';

const READER = { model: 'm', basis: 'b', inputModes: ['image/png', 'application/pdf'] };

function file(name: string, bytes: number, mediaType = 'image/png'): StoredFile {
  return { hash: `hash of ${name}`, bytes, mediaType, name };
}

/** Returns a task with one turn, whose call has these files in its result. */
function taskWith(...files: StoredFile[]): Snapshot {
  const entries = entriesOf(
    't',
    { first: 1, turns: [{ text: 1, calls: [{ input: 1, result: 2_000 }], message: null }] },
    false,
  );
  return snapshotOf(
    't',
    entries.map((entry) =>
      entry.event.type === 'tool.finished' && entry.event.outcome.type === 'ok'
        ? { ...entry, event: { ...entry.event, outcome: { ...entry.event.outcome, files } } }
        : entry,
    ),
  );
}

function after(snapshot: Snapshot, event: TaskEvent): Snapshot {
  return foldEntry(snapshot, { seq: snapshot.seq + 1, at: 0, event });
}

function resultOf(snapshot: Snapshot, reader = READER) {
  const step = buildConversation([], snapshot, reader).find(({ role }) => role === 'tool');
  if (step?.role !== 'tool') throw new Error('there is no result');
  const [{ text, files = [] } = { text: '' }] = step.results;
  return { text, names: files.map(({ name }) => name) };
}

describe('the files of a conversation', () => {
  it('up to 14 MB of files stay, the oldest first; a sentence replaces each file that does not fit', () => {
    const { text, names } = resultOf(
      taskWith(file('a', 9e6, 'application/pdf'), file('b', 6e6, 'application/pdf'), file('c', 3e6)),
    );
    expect(names).toEqual(['a', 'c']);
    expect(text).toMatch(/You do not see the file "b": .*14 MB\. A new session can read it\.\]$/);
  });

  it('a sentence replaces a file if the model does not take the file’s type', () => {
    const { text, names } = resultOf(taskWith(file('a', 5, 'image/gif'), file('b', 5)));
    expect(names).toEqual(['b']);
    expect(text).toContain('the model m takes no image/gif');
    expect(text).not.toContain('"b"');
  });

  it('a sentence replaces the files of a shortened turn', () => {
    const clipped = after(taskWith(file('a', 5)), {
      type: 'context.clipped',
      upTo: { taskId: 't', turn: 1 },
      chars: 500,
    });
    const { text, names } = resultOf(clipped);
    expect(names).toEqual([]);
    expect(text).toMatch(/characters left out[^]*The files of this result are left out/);
  });

  it('a file counts for the context window only if the model gets it', () => {
    const room = { window: 100_000, beside: 0, ...READER };
    const plain = estimatePromptTokens([], taskWith(), room);
    expect(estimatePromptTokens([], taskWith(file('a', 5)), room) - plain).toBeGreaterThanOrEqual(1_600);
    expect(estimatePromptTokens([], taskWith(file('a', 1e6, 'application/pdf')), room) - plain).toBe(100_000);
    expect(
      estimatePromptTokens([], taskWith(file('a', 5)), { ...room, inputModes: [] }) - plain,
    ).toBeLessThan(100);
  });
});
