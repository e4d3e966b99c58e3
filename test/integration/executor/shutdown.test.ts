/** Tests that the next server continues the task after an orderly shutdown. */
import { describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { lookTool } from '../../support/look-tool.ts';
import { ScriptedModel } from '../../support/scripted-model.ts';
import { messageOf, untilSettled, startTaskService } from '../../support/task-service.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

describe('a read-only call that a shutdown stops', () => {
  it('R22 R49 a read-only call that a shutdown stops runs again on the next server, as after a kill', async () => {
    const where = { stateDir: await temporaryDirectory(), workspace: await temporaryDirectory() };
    let runs: (() => void) | undefined;
    const running = new Promise<void>((resolve) => (runs = resolve));
    const endless = lookTool(async (signal) => {
      runs?.();
      await once(signal, 'abort');
      throw new Error('stopped');
    });
    const asks = new ScriptedModel([{ calls: [{ tool: 'look', input: {} }] }]);
    const first = await startTaskService({ ...where, models: asks, tools: [endless] });
    const accepted = await first.tasks.send(messageOf('look'));
    await running;
    const stopped = first.stop();
    first.clock.advance(0);
    await stopped;

    const models = new ScriptedModel([{ text: 'Done.' }]);
    const second = await startTaskService({ ...where, models, tools: [lookTool(() => Promise.resolve())] });
    await second.tasks.recover();
    expect((await untilSettled(second.tasks, accepted)).status).toEqual({ state: 'completed' });
    expect(models.requests[0]?.conversation.at(-1)).toMatchObject({
      role: 'tool',
      results: [{ text: 'Seen.', isError: false }],
    });
  });
});
