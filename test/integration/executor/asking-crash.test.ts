/** Tests that a tool's question stays pending after a kill of the tool's process. */
import { afterEach, expect, it } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { bundleProgram } from '../../../scripts/bundle-program.mjs';
import { ADA, decideUntilSettled, startScripted } from '../../support/task-service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { askingTool } from './asking-tool.ts';

const running = new Set<ChildProcess>();
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
});

it.each([
  ['R16 R21', 'with side effects waits for a person who says whether it runs again', 'other' as const],
  ['R16 R22', 'without side effects runs again, and asks again', 'none' as const],
])(
  '%s a question stays pending after a kill of its server; after the answer its tool %s',
  async (_id, _what, sideEffect) => {
    const stateDir = await temporaryDirectory();
    const { taskId } = await killed(stateDir, sideEffect);
    const { tool, heard } = askingTool({ asks: [{ text: 'Which?' }], sideEffect });
    const { tasks, failures } = await startScripted([], { stateDir, tools: [tool] });
    expect(await tasks.recover()).toBe(0);
    const before = await tasks.snapshot(taskId, { principal: ADA });
    const asked = before.status.state === 'input-required' ? before.status.pending : [];
    expect(asked).toMatchObject([{ reason: 'question', preview: { text: 'Which?' } }]);
    expect(heard).toEqual([]);
    const callId = asked[0]?.callId ?? '';
    const after = await decideUntilSettled(tasks, before, { decision: 'answer', answer: 'this' });
    expect(after.calls[callId]?.state).toMatchObject({ result: { type: 'answered', answer: 'this' } });
    expect(after.status).toMatchObject({
      state: 'input-required',
      pending: [{ reason: sideEffect === 'none' ? 'question' : 'outcome-unknown' }],
    });
    expect(Object.values(after.calls).filter(({ state }) => state.type === 'running')).toHaveLength(
      sideEffect === 'none' ? 1 : 0,
    );
    expect(failures).toEqual([]);
  },
);

/** Creates a task whose server was killed while the task's tool waited for an answer. */
async function killed(stateDir: string, sideEffect: string): Promise<{ taskId: string }> {
  const script = await bundleProgram('test/integration/executor/programs/asking-service.ts', {
    withPackages: true,
  });
  const child = spawn(process.execPath, [script, stateDir, sideEffect], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  const [line]: unknown[] = await once(createInterface({ input: child.stdout }), 'line');
  child.kill('SIGKILL');
  await once(child, 'close');
  running.delete(child);
  return z.object({ taskId: z.string() }).parse(JSON.parse(String(line)));
}
