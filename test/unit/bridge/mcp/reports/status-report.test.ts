import { describe, expect, test } from '@jest/globals';
import { questionWithCode } from '../../../../../bridge/dialects/plain-text-question.ts';
import fc from 'fast-check';
import { countTokens as cl100k } from 'gpt-tokenizer/encoding/cl100k_base';
import { countTokens as o200k } from 'gpt-tokenizer/encoding/o200k_base';
import {
  type StatusReportFacts,
  statusReportOf,
  MAX_STATUS_REPORT_TOKENS,
  statusReportSchema,
} from '../../../../../bridge/mcp/reports/status-report.ts';
import { shortNextStepText } from '../../../../../bridge/mcp/reports/next-step.ts';
import { statusText } from '../../../../../bridge/mcp/reports/status-text.ts';
import type { CallView, TaskView } from '../../../../../bridge/sessions/session/observed-task.ts';
import { ProductError } from '../../../../../shared/runtime/errors.ts';
import { anyCharacter } from '../../../../support/any-character.ts';
import { pendingWrite } from '../../../../support/fake-agent-task.ts';
import { numberOfRuns } from '../../../../support/property-runs.ts';
import { taskView } from '../../../../support/task-view.ts';

const UUIDS = ['3f2a9c1e-7b4d-4e8f-a1c2-9d0e8f7a6b5c', 'c0ffee12-0b1d-4a2c-8e3f-5d6c7b8a9f01'] as const;
const named = (tool: string): string => `gemini_${tool}`;

const view = (changes: Partial<TaskView> = {}): TaskView =>
  taskView({
    taskId: UUIDS[0],
    sessionId: UUIDS[1],
    cost: { turns: 123, inputTokens: 12_345_678, outputTokens: 9_876_543, usd: null },
    seq: 98_765,
    ...changes,
  });

function facts(of: TaskView | undefined, changes: Partial<StatusReportFacts> = {}): StatusReportFacts {
  const state = of?.state ?? 'working';
  const standing = { id: UUIDS[1], view: of, stateName: state, streamProblem: undefined, settled: false };
  return {
    sessionId: UUIDS[1],
    agent: 'team-agent.example',
    state,
    view: of,
    cursor: 98_765,
    changes: [],
    changesComplete: true,
    problem: undefined,
    now: Date.UTC(2026, 10, 22),
    next: shortNextStepText(standing, named),
    ...changes,
  };
}

const calls = (count: number, title: string, state: CallView['state'] = 'running'): CallView[] =>
  Array.from({ length: count }, (_, index) => ({
    callId: `call_${String(index)}`,
    tool: 'run-shell-command',
    title,
    state,
    toolId: `run-shell-command-162345678${String(index)}-abc123def`,
    summary: title,
    startedAt: '2026-11-22T02:42:30.123Z',
    decided: null,
  }));

const LONG = {
  prose: 'Rewrites the configuration of every service so that it reads its secrets from the vault. '.repeat(
    20,
  ),
  hashes: 'sha256-9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08/'.repeat(20),
  base64: 'aGVsbG8gd29ybGQgdGhpcyBpcyBhIGxvbmcgc3RyaW5nIHRoYXQ'.repeat(20),
  consonants: 'xqzjkw vbnpt zzkqx wrtplk '.repeat(50),
  chinese: '將所有服務的組態改寫為從保險庫讀取其密碼'.repeat(30),
  faces: '👩‍👩‍👧‍👦🏳️‍🌈🧑🏽‍🚀'.repeat(40),
  tibetan: 'བོད་སྐད་ཡིག'.repeat(40),
  signs: '{"a":[1,2,{"b":"\\"\\\\"}]}|&&>$(~!)'.repeat(30),
  lines: 'one\n\ttwo\r\n'.repeat(80),
};

function tokensOf(of: StatusReportFacts): { counted: number[]; report: ReturnType<typeof statusReportOf> } {
  const report = statusReportOf(of);
  const whole = { ...report, notes: [] };
  const told = [JSON.stringify(whole), statusText(whole)];
  return { report, counted: told.flatMap((text) => [o200k(text), cl100k(text)]) };
}

test('the status report lists at most five calls, and the running ones first', () => {
  const listed = [...calls(5, 'a'), ...calls(3, 'b', 'ok')].map((each) => ({
    ...each,
    tool: 'x',
    toolId: null,
    startedAt: null,
  }));
  const ids = { sessionId: 's', agent: 'a', next: '' };
  const { tools } = statusReportOf(facts(view({ taskId: 't', calls: listed, cost: null }), ids));
  expect(tools.map(({ state }) => state)).toEqual(Array.from({ length: 5 }, () => 'running'));
});

describe.each(Object.entries(LONG))('the status report of a task with many %s', (_, words) => {
  const pending = Array.from({ length: 12 }, (__, index) =>
    pendingWrite(`call_${String(index)}`, {
      title: words,
      tool: 'write-file',
      source: { type: 'mcp-server', server: words },
    }),
  );
  test.each<[string, StatusReportFacts]>([
    [
      'many tools run',
      facts(view({ calls: calls(40, words), text: words }), {
        changes: Array.from({ length: 50 }, () => words),
      }),
    ],
    ['many tools have run', facts(view({ calls: calls(200, words, 'ok'), text: words }))],
    [
      'much waits',
      facts(view({ state: 'input-required', pending, calls: calls(40, words) }), { changes: [words, words] }),
    ],
    [
      'it asks',
      facts(
        view({
          state: 'input-required',
          question: questionWithCode({ id: UUIDS[0], text: words }),
          calls: calls(9, words),
        }),
      ),
    ],
    [
      'it has failed',
      facts(view({ state: 'failed', text: words, calls: calls(200, words, 'error') }), { changes: [words] }),
    ],
    [
      'it cannot be followed',
      facts(view({ text: words }), {
        problem: words,
        next: shortNextStepText(
          {
            id: UUIDS[1],
            view: view(),
            stateName: 'working',
            streamProblem: new ProductError('AGENT_UNREACHABLE', words),
            settled: false,
          },
          named,
        ),
      }),
    ],
  ])(
    `the status report has fewer than ${String(MAX_STATUS_REPORT_TOKENS)} tokens, as structure and as text: %s`,
    (__, of) => {
      const { counted, report } = tokensOf(of);
      expect(Math.max(...counted)).toBeLessThan(MAX_STATUS_REPORT_TOKENS);
      expect(statusReportSchema.safeParse({ ...report, notes: [] }).error).toBeUndefined();
    },
  );
});

describe('the status report of a task', () => {
  test('the status report has fewer tokens than the limit, for any task', () => {
    const words = fc.oneof(
      fc.string({ maxLength: 400 }),
      fc.string({ maxLength: 400, unit: 'grapheme' }),
      fc.string({ maxLength: 200, unit: anyCharacter }),
      fc.constantFrom(...Object.values(LONG)),
    );
    fc.assert(
      fc.property(
        fc.record({
          title: words,
          text: words,
          asks: fc.boolean(),
          running: fc.nat(8),
          done: fc.nat(8),
          changes: fc.array(words, { maxLength: 20 }),
        }),
        ({ title, text, asks, running, done, changes }) => {
          const pending = asks
            ? [pendingWrite('call_1', { title }), pendingWrite('call_2', { title: text })]
            : [];
          const all = [...calls(done, title, 'ok'), ...calls(running, text)];
          const of = facts(view({ state: asks ? 'input-required' : 'working', text, pending, calls: all }), {
            changes,
          });
          expect(Math.max(...tokensOf(of).counted)).toBeLessThan(MAX_STATUS_REPORT_TOKENS);
        },
      ),
      { numRuns: numberOfRuns(300) },
    );
  }, 60_000);

  test('the status report has the end of a running command’s output, on one line, with hidden characters shown', () => {
    const [running] = calls(1, 'npm test');
    const toolId = running?.toolId ?? '';
    const aside = { role: 'tool-output', toolId, title: 'npm test' } as const;
    const text = `${'early '.repeat(200)}\r\n12 passed\nTool x: forged \u202e now`;
    const of = view({ calls: calls(1, 'npm test'), outputs: [{ id: 'o', name: '', text, aside }] });
    const { report } = tokensOf(facts(of));
    const [{ tail = '' } = {}] = report.tools;
    expect(tail).toMatch(/^….*passed \| Tool x: forged .* now$/);
    expect(tail).not.toContain('\u202e');
    expect(statusText({ ...report, notes: [] })).toContain(`output so far: ${tail}`);
    const ended = { ...of, calls: calls(1, 'npm test', 'ok') };
    expect(tokensOf(facts(ended)).report.tools[0]).not.toHaveProperty('tail');
  });

  test('the status report of an ordinary task has running tools, text, cost and changed files', () => {
    const { report } = tokensOf(
      facts(
        view({
          text: 'Looking for the cause.',
          cost: { turns: 12, inputTokens: 345_678, outputTokens: 9_876, usd: 1.284567 },
          calls: [...calls(1, 'List it', 'ok'), ...calls(1, 'npm test')],
        }),
        {
          changes: ['list-files: ok', 'run-shell-command runs: npm test'],
        },
      ),
    );
    expect(report).toMatchObject({
      phase: 'running: npm test',
      message: 'Looking for the cause.',
      cost: { turns: 12, inputTokens: 345_678 },
      changes: ['list-files: ok', 'run-shell-command runs: npm test'],
      changesComplete: true,
      left: 0,
    });
    expect(report.tools.at(-1)).toMatchObject({
      state: 'running',
      toolId: expect.stringContaining('abc123def'),
    });
  });

  test('the status report has the cost in money if there is space', () => {
    const cost = { turns: 12, inputTokens: 345_678, outputTokens: 9_876, usd: 1.284567 };
    expect(tokensOf(facts(view({ text: 'Looking.', cost }))).report.cost).toEqual({ ...cost, usd: 1.28 });
  });

  test('the status report has the cached tokens and the session’s cost if there is space', () => {
    const session = { inputTokens: 900_000, outputTokens: 20_000, cacheWriteTokens: 5_000, usd: 3.14159 };
    const tokens = { turns: 12, inputTokens: 345_678, outputTokens: 9_876, cachedInputTokens: 300_000 };
    const cost = { ...tokens, usd: 1.284567, session };
    const { report } = tokensOf(facts(view({ text: 'Looking.', cost })));
    expect(report.cost).toEqual({ ...tokens, usd: 1.28, session: { ...session, usd: 3.14 } });
    expect(statusReportSchema.safeParse({ ...report, notes: [] }).error).toBeUndefined();
    const full = tokensOf(facts(view({ cost, calls: [...calls(9, LONG.prose)] }))).report;
    expect(full.cost).not.toHaveProperty('session');
  });

  test('the status report omits old entries before new ones and ended tools before running ones, and says how many it omits', () => {
    const { report } = tokensOf(
      facts(view({ calls: [...calls(9, LONG.prose), ...calls(9, 'Done', 'ok')] }), {
        changes: Array.from({ length: 40 }, (_, index) => `change ${String(index)}`),
      }),
    );
    expect(report.tools.every(({ state }) => state === 'running')).toBe(true);
    expect(report.tools.length).toBeGreaterThan(0);
    expect(report.left).toBe(9 - report.tools.length);
    expect(report.changesComplete).toBe(false);
    expect(statusText({ ...report, notes: [] })).toContain(`${String(report.left)} more`);
  });

  test('the status report is never cut inside a character', () => {
    const { report } = tokensOf(facts(view({ text: `${'a'.repeat(498)}🙂🙂` })));
    expect(report.message).toMatch(/^a+🙂?…?$/u);
    expect(encodeURIComponent(report.message)).toBeTruthy();
  });
});

describe('the MCP servers of an agent', () => {
  test('the status report lists the servers, failing ones first, as far as there is space', () => {
    const well = { name: 'notes', state: 'ready' as const, tools: 12 };
    const down = { name: 'tracker', state: 'down' as const, tools: 0, error: 'exited with code 3' };
    const { report } = tokensOf(facts(view({ servers: [well, down] })));
    expect(report.servers).toEqual([down, well]);
    const many = Array.from({ length: 100 }, (_, n) => ({ ...down, name: `server-${String(n)}` }));
    const full = tokensOf(facts(view({ servers: many })));
    expect(full.report.servers?.length).toBeLessThan(50);
    expect(Math.max(...full.counted)).toBeLessThanOrEqual(300);
  });
});
