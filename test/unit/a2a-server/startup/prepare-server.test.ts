import { expect, test } from '@jest/globals';
import { createChildProcessRecords } from '../../../../a2a-server/processes/child-process-records.ts';
import { prepareServer } from '../../../../a2a-server/startup/prepare-server.ts';
import { readServerSettings } from '../../../../a2a-server/startup/settings/read-settings.ts';
import { systemClock } from '../../../../shared/runtime/clock.ts';

test.each(['auto', 'accept-edits'])('X1 four eyes refuse to start with --mode %s', async (mode) => {
  await expect(prepared({ fourEyes: true, mode })).rejects.toMatchObject({
    reason: 'CONFIGURATION',
    facts: { key: 'fourEyes' },
  });
});

test.each([
  ['no-such-program', 'there is no program "no-such-program" on the PATH of the server'],
  ['/no/such/program', 'there is no program "/no/such/program"'],
])('an ACP agent whose program %s is missing is refused at the start', async (command, reason) => {
  const start = prepared({ agent: ['acp', command, '--acp'] });
  await expect(start).rejects.toMatchObject({ reason: 'CONFIGURATION', facts: { key: 'agent' } });
  await expect(start).rejects.toThrow(
    `${command} --acp\` cannot be started: ${reason}. Install it, or correct`,
  );
});

test.each(['node', process.execPath, './agent-of-the-workspace'])(
  'an ACP agent with the program %s may start',
  async (command) => {
    // The page is read after the agent was checked.
    await expect(prepared({ agent: ['acp', command] })).rejects.toThrow('/does/not/matter');
  },
);

async function prepared(flags: Readonly<Record<string, unknown>>) {
  const settings = await readServerSettings(flags, {});
  return prepareServer(settings, {
    pageDirectory: '/does/not/matter',
    children: createChildProcessRecords({
      directory: '/does/not/matter',
      clock: systemClock,
      graceMs: 0,
      onOrphan: () => undefined,
    }),
    outputs: () => Promise.resolve(undefined),
    makeDirectory: () => Promise.resolve(),
  });
}
