/** Runs all jobs of `npm run tasks` with the offline model on the built server. */
import { expect, it, jest } from '@jest/globals';
import { join } from 'node:path';
import { readReport, runJobs } from '../support/jobs-program.ts';
import { readJobs } from '../tasks/job.ts';

// Each job starts processes, so the limit is long. The test does not wait for this time to pass.
jest.setTimeout(240_000);

it('every job is completed with approvals, also if calls are denied, edited or answered', async () => {
  const run = await runJobs(['--json']);
  const { model, results } = readReport(run);
  expect(results.filter(({ wrong }) => wrong.length > 0)).toEqual([]);
  expect({ code: run.code, model }).toEqual({ code: 0, model: 'offline' });
  expect(results.map(({ id }) => id)).toEqual((await jobs()).map(({ id }) => id));
  expect(results.filter(({ decisions }) => decisions > 0).length).toBeGreaterThanOrEqual(20);
});

it('the judge finds the mistake of each faulty plan, although the agent claims that the work is done', async () => {
  const harder = (await jobs()).filter(({ clumsy }) => clumsy !== undefined).map(({ id }) => id);
  expect(harder).toHaveLength(12);
  const run = await runJobs(['--plan', 'clumsy', '--json']);
  const { results } = readReport(run);
  expect(results.map(({ id }) => id)).toEqual(harder);
  expect(results.filter(({ state, wrong }) => state !== 'completed' || wrong.length === 0)).toEqual([]);
  expect(run.code).toBe(0);
});

it('an unknown job is refused, and the error lists the existing jobs', async () => {
  const { code, stdout, stderr } = await runJobs(['--only', 'no-such-job']);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/no job no-such-job; there are: first-file, /);
});

function jobs(): ReturnType<typeof readJobs> {
  return readJobs(join('test', 'tasks', 'jobs'));
}
