/**
 * Seeded random interleavings of decide, cancel, message, abort and detach with the executor's work, on a real
 * journal. `ALL_TESTS=1 RUNS=20 npm run jest -- interleavings` searches longer. A failure prints its seed and path.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EMPTY_POLICY } from '../../../../a2a-server/policy/create-policy.ts';
import { NO_BUDGET } from '../../../../a2a-server/task/budget.ts';
import { createTaskService } from '../../../../a2a-server/executor/task-service.ts';
import type { ClientMessage } from '../../../../a2a-server/executor/messages/client-message.ts';
import type { Journal } from '../../../../a2a-server/journal/journal.ts';
import { openSqliteJournal } from '../../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import type { JournalEntry } from '../../../../a2a-server/task/events.ts';
import { foldAll } from '../../../../a2a-server/task/fold.ts';
import { isTerminal, waitingCalls, type Snapshot } from '../../../../a2a-server/task/snapshot.ts';
import { createToolbox } from '../../../../a2a-server/tools/toolbox.ts';
import { openWorkspace, type Workspace } from '../../../../a2a-server/tools/workspace/workspace.ts';
import { ProductError } from '../../../../shared/runtime/errors.ts';
import { createIdGenerator } from '../../../../a2a-server/executor/task-journal/id-generator.ts';
import type { DecisionWord } from '../../../../shared/protocol/tool-approval.ts';
import { decisionMessage, messageOf } from '../../../support/client-message.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { steeredJournal } from '../../../support/steered-journal.ts';
import { SteeredAgent, type PlannedTurn } from '../../../support/steered-agent.ts';
import { numberOfRuns } from '../../../support/property-runs.ts';
import { DEFAULT_LIMITS, NO_TIME_LIMITS, plainServiceParts } from '../../../support/task-limits.ts';

const numRuns = numberOfRuns(500);

type Action =
  | { type: 'decide'; pick: number; word: Exclude<DecisionWord, 'answer'> }
  /** Simulates another writer, which changes the file that the calls also change. */
  | { type: 'change' }
  | { type: 'message' }
  | { type: 'follow'; leaveAfter: number }
  | { type: 'abort'; pick: number }
  | { type: 'cancel' };

const plans: fc.Arbitrary<PlannedTurn[]> = fc.array(
  fc.record({
    chunks: fc.nat(3),
    calls: fc.array(fc.constantFrom('effect' as const, 'look' as const), { maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 3 },
);

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('decide' as const),
      pick: fc.nat(5),
      word: fc.constantFrom('approve' as const, 'deny' as const, 'edit' as const),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ type: 'change' as const }) },
  { weight: 2, arbitrary: fc.constant({ type: 'message' as const }) },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('follow' as const), leaveAfter: fc.nat(12) }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('abort' as const), pick: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.constant({ type: 'cancel' as const }) },
);

/** The actions of each client in order, each after a wait. */
const clientActions = fc.array(
  fc.array(fc.record({ delay: fc.nat(30), action }), { maxLength: 6, size: 'max' }),
  { minLength: 1, maxLength: 3 },
);

const who = { principal: 'ada', channel: 'test' };
let directory: string;
let journal: Journal;
let workspace: Workspace;

beforeAll(async () => {
  // Uses a directory in memory if the system has one. The test checks order, and a busy disk would need minutes.
  directory = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'interleavings-'));
  workspace = await openWorkspace(directory);
  journal = await openSqliteJournal({ path: join(directory, 'journal.db'), clock: () => 1 });
});

afterAll(async () => {
  await journal.close();
  await rm(directory, { recursive: true, force: true });
});

function decisionOn(saw: Snapshot, callId: string, word: Exclude<DecisionWord, 'answer'>): ClientMessage {
  const edited = word === 'edit' ? { input: saw.calls[callId]?.input ?? {} } : {};
  return decisionMessage(saw, { callId, decision: word, ...edited });
}

/** Returns a refusal like an ordinary answer, because the test expects refusals. */
async function answered<T>(work: Promise<T>): Promise<T | ProductError> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ProductError) return error;
    throw error;
  }
}

async function readAll(taskId: string): Promise<JournalEntry[]> {
  return journal.read(taskId, 0, 100_000);
}

describe('the executor under random interleavings', () => {
  it('E1 E2 E3 E5 D1 D2 D3 A3 S1 in every order of steps, the journal has one outcome, and nothing is lost or runs twice', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), plans, clientActions, async (scheduler, plan, clients) => {
        const agent = new SteeredAgent(scheduler, plan);
        const clock = new FakeClock();
        const failures: unknown[] = [];
        const tasks = createTaskService({
          ...plainServiceParts(),
          journal: steeredJournal(journal, scheduler),
          clock,
          ids: createIdGenerator(clock),
          models: agent.models,
          policy: () => EMPTY_POLICY,
          writingLimits: () => DEFAULT_LIMITS,
          mode: 'ask',
          toolbox: createToolbox(agent.tools),
          // Opens the journal first. During real I/O the scheduler would run the clients before the service exists.
          openWorkspace: async () => workspace,
          graceMs: 5_000,
          limits: NO_TIME_LIMITS,
          budget: NO_BUDGET,
          onFailure: (_taskId, error) => failures.push(error),
        });
        const { taskId } = await scheduler.waitFor(tasks.send(messageOf('go on')));
        let effectsAtCancel: Map<number, number> | undefined;
        const accepted = { messages: 1, decisions: 0, cancels: 0 };
        const readers: Promise<number[]>[] = [];
        /** The content that the person saw when they approved the call. */
        const agreedOn = new Map<number, string | null>();
        const decideOn = async (saw: Snapshot, callId: string, word: Exclude<DecisionWord, 'answer'>) => {
          const answer = await answered(tasks.send(decisionOn(saw, callId, word)));
          if (answer instanceof ProductError) return;
          accepted.decisions += 1;
          const call = saw.calls[callId];
          if (call) agreedOn.set(Number(call.input['n']), call.basis);
        };

        const perform = async (act: Action): Promise<void> => {
          switch (act.type) {
            case 'decide': {
              const saw = await tasks.snapshot(taskId, { principal: 'ada' });
              const ids = Object.keys(saw.calls);
              const callId = ids[act.pick % Math.max(ids.length, 1)] ?? 'none';
              return decideOn(saw, callId, act.word);
            }
            case 'change':
              agent.version += 1;
              return;
            case 'message': {
              const answer = await answered(tasks.send(messageOf('go on', { taskId })));
              if (!(answer instanceof ProductError)) accepted.messages += 1;
              return;
            }
            case 'follow': {
              const leave = new AbortController();
              const seen: number[] = [];
              const read = async (): Promise<number[]> => {
                for await (const batch of tasks.follow(taskId, 0, { until: 'ended', signal: leave.signal })) {
                  seen.push(...batch.map((entry) => entry.seq));
                  // A reader may disconnect at any time. The disconnect must change nothing else.
                  if (seen.length > act.leaveAfter) leave.abort();
                }
                return seen;
              };
              readers.push(read());
              return;
            }
            case 'abort': {
              const running = tasks.running().filter((execution) => execution.taskId === taskId);
              const execution = running[act.pick % Math.max(running.length, 1)];
              // The test does not wait for the abort, because the abort returns only when the tool has ended.
              if (execution) void tasks.abortTool(execution.toolId, { principal: 'ada' }, 'test');
              return;
            }
            case 'cancel': {
              const answer = await answered(tasks.cancel(taskId, who, 'enough'));
              if (answer instanceof ProductError) return;
              accepted.cancels += 1;
              effectsAtCancel = new Map(agent.effects);
            }
          }
        };

        const drive = async (): Promise<void> => {
          await Promise.all(
            clients.map(async (sequence, client) => {
              for (const { delay, action: act } of sequence) {
                for (let i = 0; i <= delay; i += 1)
                  await scheduler.schedule(Promise.resolve(), `client ${client} waits to ${act.type}`);
                await perform(act);
              }
            }),
          );
          // Then a person approves every pending action until the task ends.
          for (;;) {
            const snapshot = await tasks.snapshot(taskId, { principal: 'ada' });
            if (isTerminal(snapshot)) return;
            const [call] = waitingCalls(snapshot);
            if (snapshot.status.state === 'input-required' && call) {
              await decideOn(snapshot, call.callId, 'approve');
              continue;
            }
            const all = new AbortController();
            for await (const _ of tasks.follow(taskId, snapshot.seq, {
              until: 'settled',
              signal: all.signal,
            }));
          }
        };
        await scheduler.waitFor(drive());
        await scheduler.waitFor(tasks.shutdown(0));

        // These reads belong to the test and are not counted.
        const entries = await readAll(taskId);
        const events = entries.map((entry) => entry.event);
        const snapshot = await scheduler.waitFor(tasks.snapshot(taskId, { principal: 'ada' }));
        // J1, J2
        expect(entries.map((entry) => entry.seq)).toEqual(entries.map((_, i) => i + 1));
        expect(foldAll(taskId, entries)).toEqual(snapshot);
        // E2: each call started at most once, and only if a decision or a rule allowed it.
        for (const call of Object.values(snapshot.calls)) {
          const starts = events.filter((e) => e.type === 'tool.started' && e.callId === call.callId).length;
          expect(starts).toBeLessThanOrEqual(1);
          if (call.decided?.decision === 'deny') expect(starts).toBe(0);
          if (call.tool === 'effect' && call.decided === null) expect(starts).toBe(0);
          const happened = agent.effects.get(Number(call.input['n'])) ?? 0;
          expect(happened).toBeLessThanOrEqual(starts);
        }
        // D2: the calls changed only the content that the person saw.
        for (const [n, version] of agent.changed) expect(version).toBe(agreedOn.get(n));
        // E3: the journal has each accepted command once, and no refused one.
        expect(events.filter((e) => e.type === 'message.received')).toHaveLength(accepted.messages);
        expect(events.filter((e) => e.type === 'tool.decided')).toHaveLength(accepted.decisions);
        expect(events.filter((e) => e.type === 'task.canceled')).toHaveLength(accepted.cancels);
        // S1, E5: every reader saw the journal from its start, in order, without gap or repeat.
        for (const reader of readers) {
          const seen = await scheduler.waitFor(reader);
          expect(seen).toEqual(seen.map((_, i) => i + 1));
        }
        // R45: after the cancel's answer, no further event is appended.
        if (effectsAtCancel) expect(agent.effects).toEqual(effectsAtCancel);
        // A3: no action hangs, and no timer or execution remains.
        expect(failures).toEqual([]);
        expect({ executing: tasks.executing(), running: tasks.running(), timers: clock.pending }).toEqual({
          executing: 0,
          running: [],
          timers: 0,
        });
      }),
      { numRuns },
    );
  }, 3_600_000);
});
