/** Tests a journal that cannot be written for a while. No event may be lost, and no work may run twice. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { EMPTY_POLICY } from '../../../a2a-server/policy/create-policy.ts';
import { NO_BUDGET } from '../../../a2a-server/task/budget.ts';
import {
  createTaskService,
  type RunningTaskService,
} from '../../../a2a-server/executor/journal-task-service.ts';
import { createIdGenerator } from '../../../a2a-server/executor/task-journal/id-generator.ts';
import { openSqliteJournal } from '../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import type { TaskEvent } from '../../../a2a-server/task/events.ts';
import { builtinTools } from '../../../a2a-server/tools/builtin/builtin-tools.ts';
import { createToolbox } from '../../../a2a-server/tools/toolbox.ts';
import { openWorkspace } from '../../../a2a-server/tools/workspace/workspace.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { journalWith } from '../../support/journal-with.ts';
import { ScriptedModel, type ScriptedTurn } from '../../support/scripted-model.ts';
import { messageOf, untilSettled } from '../../support/task-service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { DEFAULT_LIMITS, NO_TIME_LIMITS } from '../../support/task-limits.ts';

let close: (() => Promise<void>) | undefined;
afterEach(() => close?.());

interface Failing {
  tasks: RunningTaskService;
  clock: FakeClock;
  /** Resolves when the disk has refused an append of the executor. */
  refused: Promise<unknown>;
  /** Gives the disk free space again. */
  mend: () => void;
}

/** Starts the real service on a real journal. The disk is full from the first event of this type on. */
async function fullFrom(
  type: TaskEvent['type'],
  turns: ScriptedTurn[],
  { once = false } = {},
): Promise<Failing> {
  const clock = new FakeClock();
  const path = join(await temporaryDirectory(), 'journal.db');
  const workspace = await temporaryDirectory();
  const journal = await openSqliteJournal({ path, clock: () => clock.now() });
  let full: boolean | undefined;
  const failing = journalWith(journal, {
    append(append) {
      full ??= append.events.some((event) => event.type === type) || undefined;
      if (!full) return journal.append(append);
      if (once) full = false;
      return Promise.reject(new ProductError('STORAGE', 'the disk is full'));
    },
  });
  let told: ((error: unknown) => void) | undefined;
  const refused = new Promise<unknown>((resolve) => (told = resolve));
  const tasks = createTaskService({
    journal: failing,
    clock,
    ids: createIdGenerator(clock),
    models: new ScriptedModel(turns),
    policy: () => EMPTY_POLICY,
    writingLimits: () => DEFAULT_LIMITS,
    mode: 'ask',
    toolbox: createToolbox(builtinTools()),
    openWorkspace: (chosen) => openWorkspace(chosen ?? workspace),
    graceMs: 5_000,
    limits: NO_TIME_LIMITS,
    budget: NO_BUDGET,
    // The executor reacts within one turn of the event loop.
    onFailure: (_taskId, error) => setImmediate(() => told?.(error)),
  });
  close = async () => {
    await tasks.shutdown(0);
    await journal.close();
  };
  return { tasks, clock, refused, mend: () => (full = false) };
}

describe('a task whose journal cannot be written', () => {
  it.each(['task.working', 'turn.started', 'text.delta', 'turn.finished'] as const)(
    'R28 if the disk was full at %s, the task continues by itself once the disk has space again',
    async (type) => {
      const { tasks, clock, refused, mend } = await fullFrom(type, [{ text: 'One.' }, { text: 'Two.' }]);
      const accepted = await tasks.send(messageOf('go'));
      expect(await refused).toMatchObject({ reason: 'STORAGE' });
      mend();
      const end = untilSettled(tasks, accepted);
      clock.advance(60_000);
      expect((await end).status).toEqual({ state: 'completed' });
    },
  );

  it('R28 a full disk does not fail the task, even if a shorter event still fits', async () => {
    const turns = [{ text: 'One.' }, { text: 'Two.' }];
    const { tasks, clock, refused } = await fullFrom('text.delta', turns, { once: true });
    const accepted = await tasks.send(messageOf('go'));
    await refused;
    const end = untilSettled(tasks, accepted);
    clock.advance(60_000);
    expect((await end).status).toEqual({ state: 'completed' });
  });

  it('R28 E2 if the disk was full at the end of a tool, its outcome is not lost, and nobody is asked', async () => {
    const call = { tool: 'run-shell-command', input: { command: 'echo x' } };
    const { tasks, clock, refused, mend } = await fullFrom('tool.finished', [
      { calls: [call] },
      { text: 'Done.' },
    ]);
    const accepted = await tasks.send(messageOf('go', { settings: { autoExecute: true } }));
    await refused;
    mend();
    const end = untilSettled(tasks, accepted);
    clock.advance(60_000);
    const { status, calls } = await end;
    expect(status).toEqual({ state: 'completed' });
    expect(Object.values(calls)).toMatchObject([
      { state: { result: { outcome: { type: 'ok', text: expect.stringContaining('x') } } } },
    ]);
  });

  it('R28 a shutdown does not wait for a full disk', async () => {
    const call = { tool: 'run-shell-command', input: { command: 'true' } };
    const { tasks, clock, refused } = await fullFrom('tool.finished', [{ calls: [call] }]);
    await tasks.send(messageOf('go', { settings: { autoExecute: true } }));
    await refused;
    const shutdown = tasks.shutdown(0);
    clock.advance(0);
    await shutdown;
    expect([clock.pending, tasks.running()]).toEqual([0, []]);
  });

  it('R28 after a shutdown of the server, the task has no timer', async () => {
    const { tasks, clock, refused } = await fullFrom('task.working', [{}]);
    await tasks.send(messageOf('go'));
    await refused;
    await tasks.shutdown(0);
    expect(clock.pending).toBe(0);
  });
});
