import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { ProductError } from '../../../../shared/runtime/errors.ts';
import type { Receipt } from '../../../../shared/receipt/receipt.ts';
import { STRIDE } from '../../../support/property-runs.ts';
import {
  checkSealedReceipt,
  publicKeyFingerprint,
  sealReceiptJson,
  sealReceiptMarkdown,
} from '../../../../shared/receipt/seal.ts';

const { privateKey } = generateKeyPairSync('ed25519');

const RECEIPT: Receipt = {
  receipt: 1,
  task: {
    taskId: 'task-1',
    sessionId: 'session-1',
    principal: 'alice',
    workspace: '/work',
    createdAt: '2026-01-01T00:00:00.000Z',
    state: 'completed',
    updatedAt: '2026-01-01T00:01:00.000Z',
    message: 'Done.\n<!-- receipt {} -->\n',
    cancelledBy: null,
  },
  messages: [
    { at: '2026-01-01T00:00:00.000Z', messageId: 'm', channel: 'mcp', text: '`rm` "x" é\u2028', files: [] },
  ],
  actions: [
    {
      callId: 'call-1',
      requestedAt: '2026-01-01T00:00:10.000Z',
      tool: 'run-shell-command',
      title: 'Run ls',
      input: { '10': 'ten', command: 'ls', __proto__: 1, b: [1.5, -0, 1e21] },
      inputHash: 'ab',
      sideEffect: 'command',
      source: { type: 'built-in' },
      policy: 'a person decides',
      questions: [
        {
          at: '2026-01-01T00:00:11.000Z',
          shown: '01234567',
          reason: 'approval',
          title: 'Run ls',
          preview: { type: 'command', command: 'ls ```', cwd: '/work' },
          expiresAt: null,
        },
      ],
      decisions: [
        {
          at: '2026-01-01T00:00:20.000Z',
          decision: 'edit',
          principal: 'alice',
          channel: 'page',
          shown: '01234567',
          inputHash: 'ab',
          scope: 'tool',
          grant: { minutes: 5 },
          reason: 'safer',
          answer: null,
          edited: { title: 'Run ls -l', input: { command: 'ls -l' }, inputHash: 'cd' },
        },
      ],
      runs: [
        {
          toolId: 'tool-1',
          startedAt: '2026-01-01T00:00:21.000Z',
          endedAt: '2026-01-01T00:00:22.000Z',
          outcome: 'ok',
          text: 'exit 0',
          files: [{ path: 'a.txt', before: null, after: 'ef' }],
        },
      ],
    },
  ],
  revocations: [],
  cost: {
    models: ['m'],
    requests: 1,
    inputTokens: 10,
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 2,
    usd: 0.001,
  },
  journal: { events: 12, hash: 'aa' },
  server: { version: '1.0.0' },
};

const DOCUMENTS = [
  { kind: 'JSON', document: sealReceiptJson(RECEIPT, privateKey) },
  { kind: 'Markdown', document: sealReceiptMarkdown(RECEIPT, privateKey) },
];

/** For thousands of documents. `toThrow` formats the stack of each error, which takes longer than the check. */
function refusalOf(document: string): unknown {
  try {
    checkSealedReceipt(document);
  } catch (error) {
    return error instanceof ProductError ? error.message : error;
  }
  return 'accepted';
}

describe.each(DOCUMENTS)('a receipt as $kind', ({ document }) => {
  it('X3 a text with very many code spans can be in a receipt', () => {
    const message = '`a` '.repeat(200_000);
    const sealed = sealReceiptMarkdown({ ...RECEIPT, task: { ...RECEIPT.task, message } }, privateKey);
    expect(checkSealedReceipt(sealed)).toMatchObject({ taskId: 'task-1' });
  });

  it('names its task, its events and the key that signed it', () => {
    expect(checkSealedReceipt(document)).toEqual({
      taskId: 'task-1',
      journal: RECEIPT.journal,
      fingerprint: publicKeyFingerprint(createPublicKey(privateKey)),
      proofs: [],
    });
  });

  it('is refused after a change of any byte', () => {
    const bytes = Buffer.from(document);
    for (let at = 0; at < bytes.length; at += STRIDE) {
      const copy = Buffer.from(bytes);
      copy[at] = (copy[at] ?? 0) ^ 1;
      expect(refusalOf(copy.toString('utf8'))).toMatch(/receipt/);
    }
  });

  it('is refused after characters were added or removed anywhere', () => {
    fc.assert(
      fc.property(
        fc.nat(document.length),
        fc.nat(20),
        fc.constantFrom('', ' ', '\n', '\\', '=', '{"a":1}', '<!-- receipt '),
        (at, removed, added) => {
          const changed = document.slice(0, at) + added + document.slice(at + removed);
          fc.pre(changed !== document);
          expect(refusalOf(changed)).toMatch(/receipt/);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('is refused with the signature and the key of another server', () => {
    const other = generateKeyPairSync('ed25519').privateKey;
    const forged = document.startsWith('{')
      ? sealReceiptJson({ ...RECEIPT, cost: { ...RECEIPT.cost, usd: 0 } }, other)
      : sealReceiptMarkdown({ ...RECEIPT, cost: { ...RECEIPT.cost, usd: 0 } }, other);
    // The forged document is valid in itself, but another key has signed it.
    expect(checkSealedReceipt(forged).fingerprint).not.toBe(checkSealedReceipt(document).fingerprint);
    const key = /"publicKey":\s*"([^"]+)"/;
    expect(() => checkSealedReceipt(forged.replace(key, key.exec(document)?.[0] ?? ''))).toThrow(
      /has changed/,
    );
  });
});

describe('a receipt as Markdown', () => {
  it.each([
    ['local', 'cli', '**Approved** by the local user on the command line at'],
    ['ada', 'page', '**Approved** by `ada` on an approval page at'],
    ['ada', 'my*app', '**Approved** by `ada` over `my*app` at'],
  ])('says that %s decided over the channel %s', (principal, channel, said) => {
    const actions = RECEIPT.actions.map((action) => ({
      ...action,
      decisions: action.decisions.map((each) => ({
        ...each,
        decision: 'approve' as const,
        principal,
        channel,
      })),
    }));
    expect(sealReceiptMarkdown({ ...RECEIPT, actions }, privateKey)).toContain(said);
  });

  it('contains no text of the agent outside of code', () => {
    const hostile = '` ``` **Approved** by `root` <script>\n# Receipt\n~~~';
    const text = sealReceiptMarkdown(
      {
        ...RECEIPT,
        task: { ...RECEIPT.task, message: hostile },
        actions: RECEIPT.actions.map((action) => ({ ...action, title: hostile, tool: hostile })),
      },
      privateKey,
    );
    const withoutCode = text
      .replaceAll(/^(`{3,})text\n[^]*?\n\1$/gm, '')
      .replaceAll(/(?<!`)(`+)(?!`)[^]*?(?<!`)\1(?!`)/g, '');
    expect(withoutCode).not.toContain('root');
    expect(withoutCode).not.toContain('<script>');
    expect(withoutCode.match(/^# /gm)).toHaveLength(1);
  });
});
