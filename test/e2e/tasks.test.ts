/** Runs the jobs of `npm run tasks` with the offline model on the built server. */
import { expect, it, jest } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

// Each job is a task with processes of its own. The test does not wait for this time to pass.
jest.setTimeout(240_000);

const report = z.object({
  model: z.string(),
  results: z.array(z.object({ id: z.string(), wrong: z.array(z.string()), decisions: z.number() })),
});

async function tasks(...args: string[]): Promise<{ code: number | null; out: string; said: string }> {
  const child = spawn(process.execPath, ['scripts/run.mjs', 'test/tasks/tasks.ts', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, said] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code: child.exitCode, out, said };
}

it('every job completes under approvals, also if calls are denied, edited or answered', async () => {
  const { code, out, said } = await tasks('--json');
  const { model, results } = report.parse(JSON.parse(out === '' ? said : out));
  expect(results.filter(({ wrong }) => wrong.length > 0)).toEqual([]);
  expect({ code, model }).toEqual({ code: 0, model: 'offline' });
  expect(results.length).toBeGreaterThanOrEqual(20);
  expect(results.filter(({ decisions }) => decisions > 0).length).toBeGreaterThanOrEqual(20);
});

it('an unknown job is refused, and the error lists the existing jobs', async () => {
  const { code, out, said } = await tasks('--only', 'no-such-job');
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(said).toMatch(/no job no-such-job; there are: first-file, /);
});
