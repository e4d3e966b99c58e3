/** Tests a journal that cannot be written for a while. No event may be lost, and no work may run twice. */
import { describe, expect, it } from '@jest/globals';
import type { Journal } from '../../../a2a-server/journal/journal.ts';
import type { TaskEvent } from '../../../a2a-server/task/events.ts';
import { Deferred } from '../../../shared/runtime/deferred.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { journalWith } from '../../support/journal-with.ts';
import type { ScriptedTurn } from '../../support/scripted-model.ts';
import { messageOf, startScripted, untilSettled, type RunningService } from '../../support/task-service.ts';

interface Failing extends RunningService {
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
  let full: boolean | undefined;
  const between = (journal: Journal): Journal =>
    journalWith(journal, {
      append(append) {
        full ??= append.events.some((event) => event.type === type) || undefined;
        if (!full) return journal.append(append);
        if (once) full = false;
        return Promise.reject(new ProductError('STORAGE', 'the disk is full'));
      },
    });
  const refused = new Deferred<unknown>();
  // The executor reacts within one turn of the event loop.
  const onFailure = (error: unknown) => setImmediate(() => refused.resolve(error));
  const service = await startScripted(turns, { between, onFailure });
  return { ...service, refused: refused.promise, mend: () => (full = false) };
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
