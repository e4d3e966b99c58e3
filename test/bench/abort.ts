/**
 * Measures the time from an abort request to the signal in the command, and to the end of its whole process group,
 * while other commands run. Each command is a task of its own. The abort is a plain HTTP request.
 */
import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@a2a-js/sdk/client';
import { isGroupAlive } from '../../a2a-server/processes/end-process-group.ts';
import { abortAnswerSchema } from '../../shared/protocol/abort-answer.ts';
import { plan, shell } from '../support/offline-plan.ts';
import { activityOf, cardOf, clientFor, saying, startAgent, WITH_APPROVAL } from './agent.ts';
import type { Agent, AgentOptions } from './agent.ts';
import type { BenchContext, Benchmark, Figure } from './benchmark.ts';
import { ownProgram } from './child-program.ts';
import { medianOf, quantile, quantileOf } from './statistics.ts';

const RUNNING = 100;
const SAMPLES = 200;
/** The first samples are discarded, because Node still compiles code. */
const WARM_UP = 10;
const ROUNDS = 15;
const SIGNAL_AIM_MS = 50;

/** Otherwise, a command above the limit waits for its turn until another command ends. */
const TASK_LIMITS = [`--max-tasks=${String(RUNNING)}`, `--max-tasks-in-all=${String(RUNNING)}`];

const GRACE_MS = 1_000;
const GONE_AIM_MS = 100;
/** Shell commands with two child processes. In `IGNORES_SIGTERM`, the shell and its children ignore SIGTERM. */
const ENDS_ON_SIGTERM = 'echo pid $$; sleep 90 & sleep 90 & wait';
const IGNORES_SIGTERM = `trap '' TERM; ${ENDS_ON_SIGTERM}`;

export const abort: Benchmark = {
  id: 'abort',
  title: `abort of a tool execution, ${RUNNING} running`,
  async run(context) {
    const one = await withCommands(context, {}, (commands) => signals(context, commands));
    context.note('abort: signals done');
    const all = await withCommands(context, {}, allAtOnce);
    const heeded = await withCommands(context, {}, (commands) => ends(commands, ENDS_ON_SIGTERM));
    const ignored = await withCommands(context, { args: [`--grace=${GRACE_MS / 1000}s`] }, (commands) =>
      ends(commands, IGNORES_SIGTERM),
    );
    return [
      ...most('abort → signal, p99', quantile(one.signals, 0.99), SIGNAL_AIM_MS),
      { name: 'abort → signal, median', ...medianOf(one.signals), unit: 'ms' },
      { name: 'a round trip beside it, p99', ...quantileOf(one.roundTrips, 0.99), unit: 'ms' },
      { name: `${RUNNING} aborted at once: abort → answer, median`, ...medianOf(all), unit: 'ms' },
      { name: `${RUNNING} aborted at once: abort → answer, longest`, ...quantileOf(all, 1), unit: 'ms' },
      ...most('abort → process group gone, longest', quantile(heeded, 1), GONE_AIM_MS),
      { name: 'abort → process group gone, median', ...medianOf(heeded), unit: 'ms' },
      ...most(
        `abort → process group that ignores SIGTERM gone, ${GRACE_MS} ms of grace, longest`,
        quantile(ignored, 1),
        GRACE_MS + GONE_AIM_MS,
      ),
      {
        name: 'abort → process group that ignores SIGTERM gone, median',
        ...medianOf(ignored),
        unit: 'ms',
      },
    ];
  },
};

function most(name: string, value: number, aim: number): Figure[] {
  return [{ name, value, unit: 'ms', aim: { at: 'most', value: aim } }];
}

async function withCommands<T>(
  context: BenchContext,
  options: AgentOptions,
  work: (commands: Commands) => Promise<T>,
): Promise<T> {
  const agent = await startAgent(context, { ...options, args: [...TASK_LIMITS, ...(options.args ?? [])] });
  try {
    return await work(await commandsOf(agent));
  } finally {
    // A second signal ends the server at once, although commands still run.
    process.kill(agent.program.pid, 'SIGINT');
    await agent.program.stop('SIGTERM');
  }
}

/** Aborts commands one after the other, while a constant number of commands runs. */
async function signals(
  { directory }: BenchContext,
  commands: Commands,
): Promise<{ signals: number[]; roundTrips: number[] }> {
  const files = await mkdtemp(join(directory, 'signal-time-'));
  for (let running = 1; running < RUNNING; running += 1) await commands.start(ENDS_ON_SIGTERM);
  const [signalled, roundTrips]: [number[], number[]] = [[], []];
  for (let sample = 0; sample < WARM_UP + SAMPLES; sample += 1) {
    const file = join(files, String(sample));
    const { toolId } = await commands.start(
      `exec '${process.execPath}' '${ownProgram('signal-time')}' '${file}'`,
    );
    const before = performance.now();
    await commands.roundTrip();
    const began = performance.now();
    await commands.abort(toolId);
    const signalAt = Number(await readFile(file, 'utf8')) - performance.timeOrigin;
    if (sample < WARM_UP) continue;
    roundTrips.push(began - before);
    signalled.push(signalAt - began);
  }
  return { signals: signalled, roundTrips };
}

async function allAtOnce(commands: Commands): Promise<number[]> {
  const ids: string[] = [];
  while (ids.length < RUNNING) ids.push((await commands.start(ENDS_ON_SIGTERM)).toolId);
  return Promise.all(
    ids.map(async (toolId) => {
      const began = performance.now();
      await commands.abort(toolId);
      return performance.now() - began;
    }),
  );
}

async function ends(commands: Commands, command: string): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const { toolId, group } = await commands.start(command);
    const began = performance.now();
    const answer = commands.abort(toolId);
    while (await isGroupAlive(group));
    if (round > 0) times.push(performance.now() - began);
    await answer;
  }
  return times;
}

interface Commands {
  /** Starts a command. Resolves when the command runs. Does not read the rest of its stream. */
  start(command: string): Promise<{ toolId: string; group: number }>;
  abort(toolId: string): Promise<void>;
  /** Sends the smallest possible request. */
  roundTrip(): Promise<void>;
}

async function commandsOf({ url, token }: Agent): Promise<Commands> {
  const client = await clientFor(await cardOf(url), token);
  const headers = { authorization: `Bearer ${token}` };
  return {
    start: (command) => started(client, command),
    async abort(toolId) {
      const response = await fetch(`${url}/api/tools/abort/${toolId}`, { method: 'POST', headers });
      const { success, message } = abortAnswerSchema.parse(await response.json());
      if (!success) throw new Error(`the command was not aborted: ${message}`);
    },
    async roundTrip() {
      await (await fetch(`${url}/health`, { headers })).json();
    },
  };
}

async function started(client: Client, command: string): Promise<{ toolId: string; group: number }> {
  const message = saying({ text: plan(shell(command)), settings: { autoExecute: true } });
  for await (const event of client.sendMessageStream(message, WITH_APPROVAL)) {
    const activity = activityOf(event);
    const group = activity?.type === 'tool.output' && /pid (\d+)/.exec(activity.text)?.[1];
    if (activity?.type === 'tool.output' && group) return { toolId: activity.toolId, group: Number(group) };
  }
  throw new Error('the command did not say who it is');
}
