import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ReceiptBuilder } from '../../../../a2a-server/receipts/build-receipt.ts';
import { firstChainHash, nextChainHash } from '../../../../a2a-server/receipts/event-chain.ts';
import type { JournalEntry, RequestedCall, TaskEvent } from '../../../../a2a-server/task/events.ts';
import { receiptMarkdown } from '../../../../shared/receipt/receipt-markdown.ts';
import { receiptSchema, type Receipt } from '../../../../shared/receipt/receipt.ts';
import { decidedEvent } from '../../../support/folded-task.ts';

const START = Date.UTC(2026, 0, 1);
const CALL: RequestedCall = {
  callId: 'call-1',
  modelCallId: 'm-1',
  tool: 'write-file',
  title: 'Write a.txt',
  input: { path: 'a.txt', content: 'hello' },
  inputHash: 'input-hash',
  sideEffect: 'files',
  source: { type: 'built-in' },
  preview: { type: 'diff', path: 'a.txt', diff: '+hello\n' },
  basis: null,
};
const BY = { principal: 'alice', channel: 'page' };
const RUN = { callId: 'call-1', tool: 'write-file', title: 'Write a.txt', toolId: 'tool-1' };

function asked(shown: string, preview: RequestedCall['preview'] = CALL.preview): TaskEvent {
  const { callId, tool, title, input, sideEffect, source } = CALL;
  const decisions: ('approve' | 'deny')[] = ['approve', 'deny'];
  const pending = { callId, tool, title, input, sideEffect, source, preview, decisions };
  return {
    type: 'input.required',
    pending: [{ ...pending, shown, reason: 'approval', expiresAt: null }],
  };
}

const decided = (changes: object = {}): TaskEvent =>
  decidedEvent('call-1', { title: 'Write a.txt', by: BY, inputHash: 'input-hash', ...changes });

const BEGINNING: TaskEvent[] = [
  { type: 'task.created', sessionId: 's', principal: 'alice', settings: { workspace: '/work' } },
  {
    type: 'message.received',
    message: { messageId: 'm', parts: [{ type: 'text', text: 'Write a.txt' }] },
    channel: 'mcp',
  },
  { type: 'turn.started', turn: 1, model: 'model-a' },
  { type: 'tool.requested', turn: 1, call: CALL, verdict: { type: 'ask' } },
  {
    type: 'turn.finished',
    turn: 1,
    end: 'tool-calls',
    usage: { inputTokens: 10, outputTokens: 2 },
    usd: 0.5,
  },
];

function entriesOf(events: readonly TaskEvent[]): JournalEntry[] {
  return events.map((event, index) => ({ seq: index + 1, at: START + index * 1000, event }));
}

function receiptOf(...events: TaskEvent[]): Receipt {
  const builder = new ReceiptBuilder('task-1', '1.0.0');
  for (const entry of entriesOf(events)) builder.add(entry);
  return builder.build();
}

describe('a receipt', () => {
  it('says who asked, what was shown, who decided over which channel, what ran, and what it cost', () => {
    const receipt = receiptOf(
      ...BEGINNING,
      asked('code-1'),
      decided(),
      { type: 'tool.started', ...RUN },
      {
        type: 'files.saved',
        callId: 'call-1',
        toolId: 'tool-1',
        files: [
          { path: 'a.txt', before: { type: 'absent' }, after: { type: 'content', hash: 'h', bytes: 5 } },
        ],
      },
      { type: 'tool.finished', ...RUN, outcome: { type: 'ok', text: 'written', summary: '1 line' } },
      { type: 'task.completed', message: 'Done.' },
    );
    expect(receiptSchema.parse(receipt)).toEqual(receipt);
    expect(receipt.task).toMatchObject({
      taskId: 'task-1',
      sessionId: 's',
      principal: 'alice',
      workspace: '/work',
      state: 'completed',
      message: 'Done.',
    });
    expect(receipt.messages).toMatchObject([{ channel: 'mcp', text: 'Write a.txt' }]);
    expect(receipt.actions).toMatchObject([
      {
        tool: 'write-file',
        policy: 'a person decides',
        questions: [{ shown: 'code-1', reason: 'approval', preview: CALL.preview }],
        decisions: [{ decision: 'approve', ...BY, shown: 'code-1', inputHash: 'input-hash', edited: null }],
        runs: [{ outcome: 'ok', text: '1 line', files: [{ path: 'a.txt', before: null, after: 'h' }] }],
      },
    ]);
    expect(receipt.cost).toMatchObject({ models: ['model-a'], requests: 1, inputTokens: 10, usd: 0.5 });
  });

  it('a decision has the code of the newest question about its call', () => {
    const receipt = receiptOf(...BEGINNING, asked('old'), asked('old'), asked('new'), decided());
    expect(receipt.actions[0]?.questions.map(({ shown }) => shown)).toEqual(['old', 'new']);
    expect(receipt.actions[0]?.decisions).toMatchObject([{ shown: 'new' }]);
  });

  it('its Markdown has the preview as the person saw it, with the same codes for hidden characters', () => {
    const preview = { type: 'command' as const, command: `echo\r${' '.repeat(100)}x`, cwd: '/work' };
    const receipt = receiptOf(...BEGINNING, asked('c', preview));
    expect(receiptMarkdown(receipt)).toContain('\n│ $ echo\\u{d}⟨100 spaces⟩x\n(in /work)\n');
  });

  it('an edit has the new input, and a run without an end has no outcome', () => {
    const edited = { ...CALL, title: 'Write b.txt', input: { path: 'b.txt' }, inputHash: 'other' };
    const receipt = receiptOf(...BEGINNING, asked('c'), decided({ decision: 'edit', edited }), {
      type: 'tool.started',
      ...RUN,
    });
    expect(receipt.actions[0]?.decisions).toMatchObject([
      { decision: 'edit', edited: { title: 'Write b.txt', input: { path: 'b.txt' }, inputHash: 'other' } },
    ]);
    expect(receipt.actions[0]?.runs).toMatchObject([{ outcome: 'running', endedAt: null }]);
  });

  it('a run that a crash interrupted has an unknown outcome', () => {
    const receipt = receiptOf(
      ...BEGINNING,
      { type: 'tool.started', ...RUN },
      { type: 'tool.interrupted', ...RUN, rerun: false },
    );
    expect(receipt.actions[0]?.runs).toMatchObject([{ outcome: 'unknown' }]);
  });

  it('the cost is unknown if one request has no known price', () => {
    const receipt = receiptOf(...BEGINNING, {
      type: 'turn.finished',
      turn: 2,
      end: 'stop',
      usage: { inputTokens: 1, outputTokens: 1 },
    });
    expect(receipt.cost).toMatchObject({ requests: 2, usd: null });
  });
});

function hashOf(all: readonly JournalEntry[], taskId = 'task-1'): string {
  return all.reduce(nextChainHash, firstChainHash(taskId));
}

describe('the hash chain', () => {
  const entries = entriesOf([...BEGINNING, asked('code-1'), decided()]);

  it('is in the receipt, with the number of events', () => {
    expect(receiptOf(...entries.map(({ event }) => event)).journal).toEqual({
      events: entries.length,
      hash: hashOf(entries),
    });
  });

  it('changes with each event, their order, their times and the task', () => {
    fc.assert(
      fc.property(fc.nat(entries.length - 1), fc.nat(entries.length - 1), (one, other) => {
        fc.pre(one !== other);
        const swapped = [...entries];
        [swapped[one], swapped[other]] = [entries[other]!, entries[one]!];
        const later = entries.map((entry, at) => (at === one ? { ...entry, at: entry.at + 1 } : entry));
        const hashes = [entries, swapped, later, entries.toSpliced(one, 1)].map((all) => hashOf(all));
        expect(new Set([...hashes, hashOf(entries, 'task-2')]).size).toBe(5);
      }),
    );
  });

  it('does not depend on the order of the fields in an event', () => {
    const ordered: JournalEntry = { seq: 1, at: START, event: { type: 'text.delta', turn: 1, text: 'x' } };
    const reversed: JournalEntry = { event: { text: 'x', turn: 1, type: 'text.delta' }, at: START, seq: 1 };
    expect(hashOf([reversed])).toBe(hashOf([ordered]));
  });
});
