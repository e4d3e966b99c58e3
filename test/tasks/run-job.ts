/** Runs one job over A2A: creates its workspace, starts the task, and checks the result. */
import { createServer, type Server } from 'node:http';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import {
  A2aClient,
  ClientError,
  type Execution,
  type Progress,
  type TaskReport,
} from '../../shared/client/index.ts';
import { TOOL_APPROVAL_EXTENSION, taskOverviewSchema } from '../../shared/protocol/tool-approval.ts';
import { type Job, located } from './job.ts';
import { judge } from './judge.ts';
import { Person } from './person.ts';

export interface Agent {
  url: string;
  token: string;
}

interface JobRun {
  agent: Agent;
  /** `offline` gets the job's plan, and any other model its task. Undefined means the server's default model. */
  model: string | undefined;
  /** The plan of the offline model. */
  plan: 'perfect' | 'clumsy';
  /** The workspace of the job is created in this directory. */
  directory: string;
  /** Ends the job. */
  signal: AbortSignal;
}

export interface JobResult {
  id: string;
  state: TaskReport['state'] | 'broken';
  /** The checks that failed. The list is empty if the job succeeded. */
  wrong: readonly string[];
  decisions: number;
  turns: number;
  calls: number;
  inputTokens: number;
  outputTokens: number;
  /** The cost in US dollars. Null if the server does not know the price. */
  usd: number | null;
  /** The time from the start of the task to its last check. */
  durationMs: number;
}

export async function runJob(described: Job, run: JobRun): Promise<JobResult> {
  const site = await Site.open(described.site ?? {});
  const job = located(described, site.origin);
  const workspace = await mkdtemp(join(run.directory, `${job.id}-`));
  const person = new Person(job.person);
  const began = performance.now();
  try {
    await lay(job.files, workspace);
    const report = await worked(job, workspace, person, run);
    const outcome = { workspace, said: report.output, asked: site.asked, decisions: person.decisions };
    const wrong = await judge(job.checks, outcome);
    const ended = report.state === 'completed' ? [] : [`it ended as ${report.state}: ${report.message}`];
    return {
      id: job.id,
      state: report.state,
      wrong: [...ended, ...wrong],
      decisions: person.decisions,
      ...(await spent(run.agent, report.taskId)),
      durationMs: elapsedMs(began),
    };
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    const nothing = { turns: 0, calls: 0, inputTokens: 0, outputTokens: 0, usd: null };
    return {
      id: job.id,
      state: 'broken',
      wrong: [error.message],
      decisions: person.decisions,
      ...nothing,
      durationMs: elapsedMs(began),
    };
  } finally {
    await site.close();
    await rm(workspace, { recursive: true, force: true });
  }
}

function elapsedMs(began: number): number {
  return Math.round(performance.now() - began);
}

async function lay(files: Job['files'], workspace: string): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(workspace, path)), { recursive: true });
    await writeFile(join(workspace, path), text);
  }
}

function worked(
  job: Job,
  workspace: string,
  person: Person,
  { agent, model, plan, signal }: JobRun,
): Promise<TaskReport> {
  const client = new A2aClient(agent);
  const steps = plan === 'clumsy' ? job.clumsy : job.plan;
  const text = model === 'offline' ? JSON.stringify({ plan: steps }) : job.task;
  const request = { text, workspace, readOnly: job.readOnly, model };
  const execution: Execution = client.start(request, {
    signal,
    onProgress: (progress) => decided(progress, person, execution),
  });
  return execution.result;
}

function decided(progress: Progress, person: Person, execution: Execution): void {
  if (progress.type !== 'state' || progress.report.state !== 'waiting') return;
  const decisions = person.decide(progress.report.pending);
  const asks = progress.report.question !== null && progress.report.pending.length === 0;
  // A refused decision needs no handling here: the task then waits until the job's time limit.
  if (decisions.length > 0) execution.decide(...decisions).catch(() => undefined);
  else if (asks) execution.say('Go on as you think best.').catch(() => undefined);
}

const told = z.object({ metadata: z.object({ [TOOL_APPROVAL_EXTENSION]: taskOverviewSchema }) });

async function spent(
  { url, token }: Agent,
  taskId: string | null,
): Promise<Pick<JobResult, 'turns' | 'calls' | 'inputTokens' | 'outputTokens' | 'usd'>> {
  const answer = await fetch(`${url}/tasks/${String(taskId)}`, {
    headers: {
      authorization: `Bearer ${token}`,
      'a2a-version': '1.0',
      'a2a-extensions': TOOL_APPROVAL_EXTENSION,
    },
  });
  const { turns, calls, usage } = told.parse(await answer.json()).metadata[TOOL_APPROVAL_EXTENSION];
  const { inputTokens, outputTokens, usd = null } = usage;
  return { turns, calls: calls.length, inputTokens, outputTokens, usd };
}

/** The web site of a job. */
class Site {
  readonly asked: string[] = [];
  readonly #server: Server;

  private constructor(pages: Readonly<Record<string, string>>) {
    this.#server = createServer((request, response) => {
      const path = request.url ?? '/';
      this.asked.push(path);
      const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
      const type = path.endsWith('.json') ? 'application/json' : 'text/html; charset=utf-8';
      response.writeHead(page === undefined ? 404 : 200, { 'content-type': type }).end(page);
    });
  }

  static async open(pages: Readonly<Record<string, string>>): Promise<Site> {
    const site = new Site(pages);
    site.#server.listen(0, '127.0.0.1');
    await once(site.#server, 'listening');
    return site;
  }

  get origin(): string {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('not listening');
    return `http://127.0.0.1:${String(address.port)}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
