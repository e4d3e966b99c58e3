/** `npm run tasks`: runs realistic jobs with a model and approvals, and reports the results. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { homeDirectoryOf, launchServer, newServerHome } from '../support/server-program.ts';
import { type Job, readJobs } from './job.ts';
import { reportText } from './report.ts';
import { type Agent, type JobResult, runJob } from './run-job.ts';

/** Exit codes: all jobs succeeded, a job failed, or the run was impossible. */
const EXIT = { done: 0, failed: 1, usage: 2 } as const;

const options = z.object({
  model: z.string().min(1),
  plan: z.enum(['perfect', 'clumsy']),
  only: z.array(z.string()).optional(),
  jobs: z.string(),
  lanes: z.number(),
  minutes: z.number(),
  serverArg: z.array(z.string()),
  json: z.boolean(),
});
type Options = z.infer<typeof options>;

const WHAT_FOLLOWS = `
The command starts a server with its own environment, so the server reads the keys of model providers from there. The
command plays the person: it approves everything, except where a job says otherwise. The judge checks the result of each
job.

With --plan clumsy, the offline model makes a typical mistake in each job that has a clumsy plan. The judge must find
each of these jobs not done, although the agent claims that it is.

Exit codes:
  0  all jobs are done; with --plan clumsy, none is
  1  otherwise
  2  the run could not start

Examples:
  npm run tasks
  npm run tasks -- --only rename-function mend-failing-test
  ANTHROPIC_API_KEY=… npm run tasks -- --model anthropic:claude-sonnet-4-5 --json > report.json
  npm run tasks -- --jobs ~/my-jobs --model openai:gpt-5 --lanes 4
`;

function positive(text: string): number {
  const number = Number(text);
  if (!(number > 0)) throw new InvalidArgumentError('It is a number above 0.');
  return number;
}

const command = new Command('npm run tasks --')
  .description('Gives realistic jobs to a model on the built server, with approvals, and checks the results.')
  .option('--model <id>', 'offline, or provider:model', 'offline')
  .addOption(
    new Option('--plan <plan>', 'the plan that the offline model follows')
      .choices(['perfect', 'clumsy'])
      .default('perfect'),
  )
  .option('--only <ids...>', 'only these jobs')
  .option('--jobs <dir>', 'the directory of the job files (*.json)', 'test/tasks/jobs')
  .option('--lanes <n>', 'the number of jobs that run at the same time', positive, 2)
  .option('--minutes <n>', 'the time limit of a job; then the command cancels it', positive, 10)
  .addOption(
    new Option(
      '--server-arg <arg...>',
      'more arguments of the server, e.g. --server-arg=--shell-network',
    ).default([]),
  )
  .option('--json', 'print the report as JSON', false)
  .addHelpText('after', WHAT_FOLLOWS);
const read = options.safeParse(command.parse().opts());
if (read.success) await main(read.data).catch(broken);
else broken(new Error(z.prettifyError(read.error)));

async function main(chosen: Options): Promise<void> {
  const all = await readJobs(chosen.jobs);
  const unknown = chosen.only?.find((id) => all.every((job) => job.id !== id));
  if (unknown !== undefined)
    throw new Error(`there is no job ${unknown}; there are: ${all.map(({ id }) => id).join(', ')}`);
  const clumsy = chosen.plan === 'clumsy';
  if (clumsy && chosen.model !== 'offline') throw new Error('only the offline model follows a plan');
  const jobs = all
    .filter(({ id }) => chosen.only?.includes(id) ?? true)
    .filter((job) => !clumsy || job.clumsy !== undefined);
  if (jobs.length === 0) throw new Error('none of these jobs has a clumsy plan');
  const home = await newServerHome();
  const directory = await mkdtemp(join(tmpdir(), 'tasks-'));
  const server = launchServer({
    home,
    args: [
      '--model',
      chosen.model,
      '--allow-private-host',
      '127.0.0.1',
      '--log-level',
      'error',
      ...chosen.serverArg,
    ],
    env: Object.fromEntries(
      Object.entries(process.env).flatMap(([key, value]) =>
        value === undefined || key === 'HOME' ? [] : [[key, value]],
      ),
    ),
  });
  try {
    const results = await done(jobs, { ...chosen, agent: await server.ready, directory });
    process.stdout.write(
      chosen.json
        ? `${JSON.stringify({ model: chosen.model, results }, null, 2)}\n`
        : reportText(chosen.model, results),
    );
    // A task that broke off does not prove the judge, because the judge must find the mistake in finished work.
    const expected = ({ wrong, state }: JobResult): boolean =>
      clumsy ? wrong.length > 0 && state === 'completed' : wrong.length === 0;
    process.exitCode = results.every(expected) ? EXIT.done : EXIT.failed;
  } finally {
    await server.stop();
    for (const path of [directory, homeDirectoryOf(home)]) await rm(path, { recursive: true, force: true });
  }
}

async function done(
  jobs: readonly Job[],
  { agent, model, plan, directory, lanes, minutes }: Options & { agent: Agent; directory: string },
): Promise<readonly JobResult[]> {
  const results: JobResult[] = [];
  const waiting = [...jobs];
  const lane = async (): Promise<void> => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      const signal = AbortSignal.timeout(minutes * 60_000);
      const result = await runJob(job, { agent, model, plan, directory, signal });
      results.push(result);
      process.stderr.write(`${result.wrong.length === 0 ? '✓' : '✗'} ${job.id}\n`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(lanes, jobs.length) }, lane));
  const order = jobs.map(({ id }) => id);
  return results.toSorted((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
}

function broken(error: unknown): void {
  process.stderr.write(`npm run tasks: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = EXIT.usage;
}
