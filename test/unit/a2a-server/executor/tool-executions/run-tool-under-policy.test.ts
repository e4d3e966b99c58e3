import { expect, it } from '@jest/globals';
import { recheckPolicyAndRun } from '../../../../../a2a-server/executor/tool-executions/run-tool-under-policy.ts';
import type { RequestedCall } from '../../../../../a2a-server/task/events.ts';
import { builtinTools } from '../../../../../a2a-server/tools/builtin/builtin-tools.ts';
import { openWorkspace } from '../../../../../a2a-server/tools/workspace/workspace.ts';
import { taskAfter, turnEventsWith } from '../../../../support/folded-task.ts';
import { policyOf } from '../../../../support/judged-calls.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';
import { toolRun } from '../../../../support/tool-run.ts';

it('E1 E2 a tool does not run if this server lost the task while the targets were resolved', async () => {
  const requested: RequestedCall = {
    callId: 'a',
    modelCallId: 'm',
    tool: 'read-file',
    title: 'Read a.txt',
    input: { path: 'a.txt' },
    inputHash: 'h',
    sideEffect: 'none',
    source: { type: 'built-in' },
    preview: { type: 'json', value: {} },
    basis: null,
  };
  const task = taskAfter(...turnEventsWith([{ call: requested, ask: false }]));
  const [call] = Object.values(task.calls);
  const builtin = builtinTools().find(({ name }) => name === 'read-file');
  if (call === undefined || builtin === undefined) throw new Error('no call');
  const done: string[] = [];
  const tool = {
    ...builtin,
    reach: () => {
      done.push('resolved');
      return { paths: ['a.txt'] };
    },
    run: () => {
      done.push('ran');
      return Promise.resolve({ text: '', summary: '' });
    },
  };
  const run = toolRun({
    workspace: await openWorkspace(await temporaryDirectory()),
    signal: new AbortController().signal,
    requireClaim: () => {
      if (done.includes('resolved')) throw new Error('lost');
    },
  });
  const policy = policyOf({ action: 'deny', path: 'secret/**' });
  const running = recheckPolicyAndRun({ tool, task, call }, policy, run);
  await expect(running).rejects.toThrow('lost');
  expect(done).toEqual(['resolved']);
});
