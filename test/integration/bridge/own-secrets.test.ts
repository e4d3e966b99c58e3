import { expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { DELEGATE, startAgent, startClient } from './support/bridge-stage.ts';

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux(
  'X1 the environment of the bridge in /proc shows no secret, and the bridge still has it',
  async () => {
    const token = 'hush-0123456789';
    const agent = await startAgent({ token, onMessage: (task) => task.work().complete() });
    const client = await startClient({ url: agent.url, token });
    const shown = await readFile(`/proc/${String(client.process.pid)}/environ`, 'latin1');
    expect(shown).not.toContain(token);
    const done = await client.call(DELEGATE, { task: 'go' });
    expect(done.structuredContent).toMatchObject({ state: 'completed' });
  },
);
