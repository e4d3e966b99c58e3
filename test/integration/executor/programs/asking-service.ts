/**
 * Runs a task service in a separate process, with the arguments `<directory> <side effect>`. Its only tool asks a
 * person while it runs. It prints the waiting question as one JSON object, and keeps running.
 */
import { join } from 'node:path';
import { setInterval } from 'node:timers';
import { createTaskService } from '../../../../a2a-server/executor/task-service.ts';
import { createIdGenerator } from '../../../../a2a-server/executor/task-journal/id-generator.ts';
import { openSqliteJournal } from '../../../../a2a-server/journal/sqlite/sqlite-journal.ts';
import { EMPTY_POLICY } from '../../../../a2a-server/policy/create-policy.ts';
import { NO_BUDGET } from '../../../../a2a-server/task/budget.ts';
import { createToolbox } from '../../../../a2a-server/tools/toolbox.ts';
import { openWorkspace } from '../../../../a2a-server/tools/workspace/workspace.ts';
import { systemClock } from '../../../../shared/runtime/clock.ts';
import { sideEffectSchema } from '../../../../shared/protocol/tool-approval.ts';
import { ScriptedModel } from '../../../support/scripted-model.ts';
import { askingTool, CALLS_ASK } from '../asking-tool.ts';
import { DEFAULT_LIMITS, NO_TIME_LIMITS, plainServiceParts } from '../../../support/task-limits.ts';

const [, , directory = '', effect] = process.argv;
const { tool } = askingTool({ asks: [{ text: 'Which?' }], sideEffect: sideEffectSchema.parse(effect) });
const principal = 'ada';
const tasks = createTaskService({
  ...plainServiceParts(),
  journal: await openSqliteJournal({ path: join(directory, 'journal.db'), clock: () => systemClock.now() }),
  clock: systemClock,
  ids: createIdGenerator(systemClock),
  models: new ScriptedModel([CALLS_ASK]),
  toolbox: createToolbox([tool]),
  policy: () => EMPTY_POLICY,
  writingLimits: () => DEFAULT_LIMITS,
  mode: 'ask',
  openWorkspace: (path) => openWorkspace(path ?? directory),
  graceMs: 1_000,
  limits: NO_TIME_LIMITS,
  budget: NO_BUDGET,
  onFailure: (_taskId, error) => {
    throw error;
  },
});
const { taskId, seq } = await tasks.send({
  principal,
  channel: 'test',
  message: { messageId: 'm', parts: [{ type: 'text', text: 'go' }] },
  bodyHash: 'hash',
  settings: { autoExecute: true },
  wordsDecide: false,
});
const { signal } = new AbortController();
for await (const _ of tasks.follow(taskId, seq, { until: 'settled', signal }));
process.stdout.write(`${JSON.stringify({ taskId })}\n`);
// It waits for the kill of the test. It ends with the test, also if the test itself is killed.
const parent = process.ppid;
setInterval(() => process.ppid === parent || process.exit(), 1_000);
