import { describe, expect, it } from '@jest/globals';
import { getEventListeners } from 'node:events';
import { createWaitTool } from '../../../../../a2a-server/tools/builtin/wait.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { toolInWorkspace } from '../tool-in-workspace.ts';

describe('the tool wait', () => {
  it('wait ends when the time is over, and not before', async () => {
    const clock = new FakeClock();
    const tool = createWaitTool(clock);
    const { run } = await toolInWorkspace();
    const { signal } = new AbortController();
    let ended = false;
    const waiting = run(tool, { seconds: 600 }, { signal }).finally(() => {
      ended = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(599_999);
    await new Promise((resolve) => setImmediate(resolve));
    expect(ended).toBe(false);
    clock.advance(1);
    expect(await waiting).toEqual({ text: 'Waited 600 seconds.', summary: 'waited 600 seconds' });
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  it('A2 wait ends at once after an abort, and leaves no timer and no listener', async () => {
    const clock = new FakeClock();
    const { run } = await toolInWorkspace();
    const controller = new AbortController();
    const waiting = run(createWaitTool(clock), { seconds: 600 }, { signal: controller.signal });
    await new Promise((resolve) => setImmediate(resolve));
    expect(clock.pending).toBe(1);
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
    expect(clock.pending).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
    await expect(
      run(createWaitTool(clock), { seconds: 1 }, { signal: controller.signal }),
    ).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(clock.pending).toBe(0);
  });

  it('wait has a time limit longer than the wait, and refuses an endless wait', () => {
    const tool = createWaitTool(new FakeClock());
    expect(tool.title({ seconds: 1 })).toBe('Wait 1 second');
    expect(tool.timeoutMs({ seconds: 5 })).toBeGreaterThan(5000);
    expect(tool.schema.safeParse({ seconds: 3601 }).success).toBe(false);
    expect(tool.schema.safeParse({ seconds: -1 }).success).toBe(false);
  });
});
