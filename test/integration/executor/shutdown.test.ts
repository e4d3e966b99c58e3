/** Tests that the next server continues the task after an orderly shutdown. */
import { describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { Deferred } from '../../../shared/runtime/deferred.ts';
import { lookTool } from '../../support/look-tool.ts';
import { messageOf, untilSettled, startScripted } from '../../support/task-service.ts';

describe('a read-only call that a shutdown stops', () => {
  it('R22 R49 a read-only call that a shutdown stops runs again on the next server, as after a kill', async () => {
    const runs = new Deferred<void>();
    const endless = lookTool(async (signal) => {
      runs.resolve();
      await once(signal, 'abort');
      throw new Error('stopped');
    });
    const turns = [{ calls: [{ tool: 'look', input: {} }] }, { text: 'Done.' }];
    const { models, ...first } = await startScripted(turns, { tools: [endless] });
    const accepted = await first.tasks.send(messageOf('look'));
    await runs.promise;
    const second = await first.restart({ tools: [lookTool()] });
    await second.tasks.recover();
    expect((await untilSettled(second.tasks, accepted)).status).toEqual({ state: 'completed' });
    expect(models.requests[1]?.conversation.at(-1)).toMatchObject({
      role: 'tool',
      results: [{ text: 'Seen.', isError: false }],
    });
  });
});
