/** Tests that a waiting task uses no resources of the process. Its whole state is in the journal. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { EMPTY_POLICY } from '../../../a2a-server/policy/create-policy.ts';
import { NO_BUDGET } from '../../../a2a-server/task/budget.ts';
import {
  createTaskService,
  type RunningTaskService,
} from '../../../a2a-server/executor/journal-task-service.ts';
import { createIdGenerator } from '../../../a2a-server/executor/task-journal/id-generator.ts';
import type { ClientMessage } from '../../../a2a-server/executor/messages/client-message.ts';
import type { Journal } from '../../../a2a-server/journal/journal.ts';
import { openSqliteJournal } from '../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import { pendingActions } from '../../../a2a-server/task/pending.ts';
import type { Snapshot } from '../../../a2a-server/task/snapshot.ts';
import { builtinTools } from '../../../a2a-server/tools/builtin/builtin-tools.ts';
import { createToolbox } from '../../../a2a-server/tools/toolbox.ts';
import { openWorkspace } from '../../../a2a-server/tools/workspace/workspace.ts';
import { TOOL_APPROVAL_EXTENSION } from '../../../shared/protocol/tool-approval.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { pendingCall } from '../../support/task-service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { DEFAULT_LIMITS, NO_TIME_LIMITS } from '../../support/task-limits.ts';
import { modelsOf } from '../../support/model-settings.ts';

const PRINCIPAL = 'ada';

/** The objects of one process, created from the files alone. */
interface Life {
  tasks: RunningTaskService;
  end(): Promise<void>;
}

let lives: Life[] = [];
afterEach(async () => {
  for (const life of lives) await life.end();
  lives = [];
});

async function begin(directory: string, clock: FakeClock): Promise<Life> {
  const journal: Journal = await openSqliteJournal({
    path: join(directory, 'journal.db'),
    clock: () => clock.now(),
  });
  const tasks = createTaskService({
    journal,
    clock,
    ids: createIdGenerator(clock),
    models: modelsOf(),
    policy: () => EMPTY_POLICY,
    writingLimits: () => DEFAULT_LIMITS,
    mode: 'ask',
    toolbox: createToolbox(builtinTools({ clock })),
    openWorkspace: () => openWorkspace(directory),
    graceMs: 5_000,
    limits: NO_TIME_LIMITS,
    budget: NO_BUDGET,
    onFailure: (_taskId, error) => {
      throw error;
    },
  });
  let ended: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    await tasks.shutdown(0);
    await journal.close();
  };
  const life = { tasks, end: () => (ended ??= end()) };
  lives.push(life);
  return life;
}

let messages = 0;

function incoming(text: string, more: Partial<ClientMessage> = {}): ClientMessage {
  messages += 1;
  return {
    principal: PRINCIPAL,
    channel: 'test',
    message: { messageId: `m${messages}`, parts: [{ type: 'text', text }] },
    bodyHash: `h${messages}`,
    settings: {},
    wordsDecide: false,
    ...more,
  };
}

function approval(saw: Snapshot): ClientMessage {
  const { taskId } = saw;
  const decisions = pendingActions(saw).map(({ callId, shown }) => ({
    callId,
    shown,
    decision: 'approve' as const,
    scope: 'once' as const,
  }));
  return incoming('', { taskId, decisions: { extension: TOOL_APPROVAL_EXTENSION, decisions } });
}

/** Sends a message, and follows the task until it parks or ends. */
async function sent({ tasks }: Life, message: ClientMessage): Promise<Snapshot> {
  const { taskId, seq } = await tasks.send(message);
  const { signal } = new AbortController();
  for await (const _ of tasks.follow(taskId, seq, { until: 'settled', signal }));
  return tasks.snapshot(taskId, { principal: PRINCIPAL });
}

/** Checks that the process has no execution, tool or timer of any task. The last steps may still need a moment. */
async function expectIdle({ tasks }: Life, clock: FakeClock): Promise<void> {
  while (tasks.executing() > 0) await nextTurn();
  expect([clock.pending, tasks.running()]).toEqual([0, []]);
}

describe('a task that waits for a person', () => {
  it.each([
    { later: '0.3 s', ms: 300 },
    { later: '6 s', ms: 6_000 },
    { later: '10 min', ms: 600_000 },
    { later: '10 days', ms: 864_000_000 },
  ])(
    'R01 a process that knows only the journal gets the approval $later later, and the waiting call runs exactly once',
    async ({ ms }) => {
      const directory = await temporaryDirectory();
      const clock = new FakeClock();
      const first = await begin(directory, clock);
      const parked = await sent(first, incoming('append "once" to effects.txt'));
      const callId = pendingCall(parked);
      await expectIdle(first, clock);
      await first.end();

      clock.advance(ms / 2);
      const second = await begin(directory, clock);
      expect(await second.tasks.recover()).toBe(0);
      clock.advance(ms / 2);
      expect(await second.tasks.snapshot(parked.taskId, { principal: PRINCIPAL })).toEqual(parked);
      await expectIdle(second, clock);
      const done = await sent(second, approval(parked));
      expect(done.status.state).toBe('completed');
      expect(done.calls[callId]).toMatchObject({
        state: { type: 'settled', result: { outcome: { type: 'ok' } } },
        decided: { decision: 'approve', at: clock.now(), by: { principal: PRINCIPAL, channel: 'test' } },
      });
      expect(await readFile(join(directory, 'effects.txt'), 'utf8')).toBe('once');
      await expect(second.tasks.send(approval(parked))).rejects.toMatchObject({
        reason: 'ALREADY_DECIDED',
      });
      await expectIdle(second, clock);
      expect(await readFile(join(directory, 'effects.txt'), 'utf8')).toBe('once');
    },
  );

  it('R01 ten minutes after the question, the approval creates a new abort scope in the same process, and the call runs once', async () => {
    const directory = await temporaryDirectory();
    const clock = new FakeClock();
    const life = await begin(directory, clock);
    const parked = await sent(life, incoming('append "once" to effects.txt'));
    clock.advance(600_000);
    const done = await sent(life, approval(parked));
    expect(done.status.state).toBe('completed');
    expect(await readFile(join(directory, 'effects.txt'), 'utf8')).toBe('once');
    await expectIdle(life, clock);
  });
});
