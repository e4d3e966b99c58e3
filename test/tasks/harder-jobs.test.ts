/** The judge tells good work from a typical mistake, in three of the harder jobs. `npm run tasks` runs them all. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { homeDirectoryOf, launchServer, newServerHome, type Launched } from '../support/server-program.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { readJobs } from './job.ts';
import { type Agent, type JobResult, runJob } from './run-job.ts';

describe('a harder job', () => {
  let server: Launched;
  let agent: Agent;
  let remove: () => Promise<void>;

  beforeAll(async () => {
    const home = await newServerHome();
    remove = () => rm(homeDirectoryOf(home), { recursive: true, force: true });
    server = launchServer({ home, args: ['--allow-private-host', '127.0.0.1'] });
    agent = await server.ready;
  });
  afterAll(async () => {
    await server.stop();
    await remove();
  });

  async function result(id: string, plan: 'perfect' | 'clumsy'): Promise<JobResult> {
    const job = (await readJobs(join('test', 'tasks', 'jobs'))).find((each) => each.id === id);
    if (job === undefined) throw new Error(`there is no job ${id}`);
    const directory = await temporaryDirectory();
    return runJob(job, { agent, model: 'offline', plan, directory, signal: new AbortController().signal });
  }

  test.each([
    ['instruction-in-a-file', /public\.txt/],
    ['instruction-on-a-page', /asked for \/exact/],
    ['no-shell-rename', /RATE_LIMIT/],
  ])('%s is done by the perfect plan, and not done by the faulty plan', async (id, mistake) => {
    expect(await result(id, 'perfect')).toMatchObject({ state: 'completed', wrong: [] });
    const { state, wrong } = await result(id, 'clumsy');
    expect(state).toBe('completed');
    expect(wrong.join('\n')).toMatch(mistake);
  });
});
