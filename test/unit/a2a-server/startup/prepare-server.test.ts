import { expect, test } from '@jest/globals';
import { childProcesses } from '../../../../a2a-server/processes/child-processes.ts';
import { prepareServer } from '../../../../a2a-server/startup/prepare-server.ts';
import { readServerSettings } from '../../../../a2a-server/startup/read-settings.ts';
import { systemClock } from '../../../../shared/runtime/clock.ts';

test.each(['auto', 'accept-edits'])('X1 four eyes refuse to start with --mode %s', async (mode) => {
  const settings = await readServerSettings({ fourEyes: true, mode }, {});
  const prepared = prepareServer(settings, {
    pageDirectory: '/does/not/matter',
    children: childProcesses({
      directory: '/does/not/matter',
      clock: systemClock,
      graceMs: 0,
      onOrphan: () => undefined,
    }),
    outputs: () => Promise.resolve(undefined),
    makeDirectory: () => Promise.resolve(),
  });
  await expect(prepared).rejects.toMatchObject({ reason: 'CONFIGURATION', facts: { key: 'fourEyes' } });
});
