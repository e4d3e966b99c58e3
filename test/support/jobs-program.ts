/** Runs `npm run tasks` in its own process, on the build. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

/** The report of `--json`. */
const report = z.strictObject({
  model: z.string(),
  results: z.array(
    z.strictObject({
      id: z.string(),
      state: z.string(),
      wrong: z.array(z.string()),
      decisions: z.int(),
      turns: z.int(),
      calls: z.int(),
      inputTokens: z.int(),
      outputTokens: z.int(),
      usd: z.number().nullable(),
      durationMs: z.int(),
    }),
  ),
});
export type JobsReport = z.infer<typeof report>;

interface JobsRun {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** @param env replaces the variables of this process */
export async function runJobs(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<JobsRun> {
  const child = spawn(process.execPath, ['scripts/run.mjs', 'test/tasks/tasks.ts', ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code: child.exitCode, stdout, stderr };
}

/** @throws Error with the standard error of the run if it has no report */
export function readReport({ stdout, stderr }: JobsRun): JobsReport {
  if (stdout === '') throw new Error(stderr);
  return report.parse(JSON.parse(stdout));
}
