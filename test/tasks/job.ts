/** A job: realistic work in a small workspace, the decisions of the person, and checks of the result. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** Paths are relative to the job's workspace. `{{site}}` in any text is the address of the job's web site. */
const path = z.string().regex(/^(?!\/)(?!.*\.\.)[^\0]+$/);

const check = z.union([
  z.strictObject({
    file: path,
    is: z.string().optional(),
    has: z.array(z.string()).optional(),
    hasNot: z.array(z.string()).optional(),
  }),
  z.strictObject({ absent: path }),
  /** A shell command in the workspace that must succeed. */
  z.strictObject({ command: z.string() }),
  /** A regular expression that matches the agent's text. */
  z.strictObject({ says: z.string() }),
  /** Pages that the agent has requested from the site. */
  z.strictObject({ asked: z.array(z.string()) }),
  /** Pages that the agent must not request. */
  z.strictObject({ notAsked: z.array(z.string()) }),
  /** The minimum number of questions to the person. With 0, there must be none. */
  z.strictObject({ decisions: z.int().min(0) }),
]);
export type Check = z.infer<typeof check>;

/** The person's decision on the first pending action of this tool. The person approves all other actions. */
const intervention = z.strictObject({
  tool: z.string(),
  decision: z.union([
    z.strictObject({ decision: z.literal('deny'), reason: z.string() }),
    z.strictObject({ decision: z.literal('edit'), input: z.record(z.string(), z.unknown()) }),
    z.strictObject({ decision: z.literal('edit'), content: z.string() }),
    z.strictObject({ decision: z.literal('answer'), answer: z.string() }),
  ]),
});
export type Intervention = z.infer<typeof intervention>;

const job = z.strictObject({
  id: z.string().regex(/^[a-z0-9-]+$/),
  /** The task as a real model gets it. */
  task: z.string(),
  /** The task as a plan for the offline model: `{"plan": …}` of docs/offline-model.md. */
  plan: z.array(z.unknown()).min(1),
  /** A plan with a typical mistake, for the offline model. With this plan, a check must fail. */
  clumsy: z.array(z.unknown()).min(1).optional(),
  files: z.record(path, z.string()).default({}),
  /** The pages of the job's web site, by path. */
  site: z.record(z.string(), z.string()).optional(),
  /** True if the agent has only tools without side effects. */
  readOnly: z.boolean().default(false),
  person: z.array(intervention).default([]),
  checks: z.array(check).min(1),
});
export type Job = z.infer<typeof job>;

/** Reads the jobs of all files of a directory, in order. @throws Error that names the invalid file or the duplicate id */
export async function readJobs(directory: string): Promise<readonly Job[]> {
  const jobs: Job[] = [];
  for (const name of (await readdir(directory)).filter((each) => each.endsWith('.json')).toSorted()) {
    const parsed = z.array(job).safeParse(JSON.parse(await readFile(join(directory, name), 'utf8')));
    if (!parsed.success) throw new Error(`${join(directory, name)}: ${z.prettifyError(parsed.error)}`);
    jobs.push(...parsed.data);
  }
  const twice = jobs.find(({ id }, index) => jobs.findIndex((other) => other.id === id) !== index);
  if (twice) throw new Error(`two jobs of ${directory} are called ${twice.id}`);
  return jobs;
}

/** Returns the job with the site's address instead of `{{site}}`. */
export function located(described: Job, site: string): Job {
  const replaced: unknown = JSON.parse(
    JSON.stringify(described).replaceAll('{{site}}', JSON.stringify(site).slice(1, -1)),
  );
  return job.parse(replaced);
}
