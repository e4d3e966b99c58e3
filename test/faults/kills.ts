/** SIGKILL at random moments: server, bridge or both, while whole approval flows run, and while they start again. */
import { setTimeout as pause } from 'node:timers/promises';
import { A2aFlow } from './a2a-flow.ts';
import { Disconnected } from './a2a-client.ts';
import { BridgeFlow } from './bridge-flow.ts';
import { must, type Findings } from './findings.ts';
import { checkFlow, readJournalFile, taskOf } from './flow-checks.ts';
import type { Flow } from './flow.ts';
import { Place } from './place.ts';
import type { Programs } from './programs.ts';
import { Random } from './random.ts';
import { TaskReader } from './task-reader.ts';
import { Verdicts } from './verdicts.ts';
import { randomWorkload } from './workload.ts';

/** Kills of one round, that is on one home. */
const KILLS = 10;
/** Requests after which a flow that has not ended never will. */
const MAX_STEPS = 200;

export async function killsRound(round: number, programs: Programs, findings: Findings): Promise<void> {
  const random = new Random(findings.seed, 'kills', round);
  const place = await Place.open({ programs, random });
  const killer = new Killer(place, random, findings);
  try {
    for (let flows = 0; killer.left > 0; flows++) {
      const workload = randomWorkload(random, `k${round}f${flows}`);
      const parts = {
        workload,
        workspace: place.home.workspace,
        random,
        verdicts: new Verdicts(random),
      };
      const flow = random.chance(0.5)
        ? new BridgeFlow({ ...parts, call: (name, args) => place.callTool(name, args) })
        : new A2aFlow(parts);
      await runFlow(flow, place, killer, findings);
    }
    await place.stopServer();
    const tasks = await readJournalFile(place.journalPath);
    for (const entries of tasks.values()) findings.count('kills: journal entries', entries.length);
  } finally {
    await place.close();
  }
}

async function runFlow(flow: Flow, place: Place, killer: Killer, findings: Findings): Promise<void> {
  const reading = new AbortController();
  const reader = { seen: undefined as TaskReader | undefined };
  const reads = readAlong(flow, place, reading.signal, (made) => (reader.seen = made));
  try {
    for (let steps = 0; !flow.done; steps++) {
      must(steps < MAX_STEPS, `${flow.workload.name} has not come to an end after ${steps} requests`);
      const strike = killer.strike(flow instanceof BridgeFlow);
      try {
        await flow.step(await place.client());
      } catch (error) {
        if (!(error instanceof Disconnected)) throw error;
        findings.count('kills: requests cut off');
      } finally {
        await strike();
      }
    }
  } finally {
    // A reader of an ended task reads to the end; it is given a moment for that, and what it has is compared.
    reading.abort();
    await reads;
  }
  const client = await readyClient(place);
  const seen = reader.seen?.seen ?? [];
  await checkFlow('kills', flow, { client, workspace: place.home.workspace, seen, findings });
  findings.count('kills: events seen by readers', seen.length);
  if (flow instanceof BridgeFlow) findings.count('kills: flows over the bridge');
  if (flow instanceof BridgeFlow)
    findings.count('kills: answers of the bridge that were errors', flow.errors.length);
}

/** The server may be killed while it starts: then the next one is waited for. */
async function readyClient(place: Place): ReturnType<Place['client']> {
  for (let tries = 0; ; tries++) {
    try {
      return await place.client();
    } catch (error) {
      if (!(error instanceof Disconnected) || tries === 10) throw error;
    }
  }
}

/** Follows the flow's task from its first event, over as many connections as it takes. */
async function readAlong(
  flow: Flow,
  place: Place,
  signal: AbortSignal,
  made: (reader: TaskReader) => void,
): Promise<void> {
  let reader: TaskReader | undefined;
  while (!signal.aborted) {
    try {
      const client = await place.client();
      if (reader === undefined) {
        if (flow.taskId === undefined) {
          await pause(5);
          continue;
        }
        reader = new TaskReader(await taskOf(client, flow));
        made(reader);
      }
      await reader.read(client, { signal });
      // The server ends the stream of a task that has ended, and of none other.
      return;
    } catch (error) {
      if (!(error instanceof Disconnected)) throw error;
      await pause(5);
    }
  }
}

type Target = 'server' | 'bridge' | 'both';

class Killer {
  left = KILLS;
  readonly #place: Place;
  readonly #random: Random;
  readonly #findings: Findings;

  constructor(place: Place, random: Random, findings: Findings) {
    this.#place = place;
    this.#random = random;
    this.#findings = findings;
  }

  /** Plans a kill, sooner or later in the request that follows, or none. @returns how to wait for it, or call it off. */
  strike(bridged: boolean): () => Promise<void> {
    if (this.left <= 0 || this.#random.chance(0.2)) return async () => undefined;
    const target: Target = bridged ? this.#random.pick(['server', 'bridge', 'both']) : 'server';
    const delay = this.#random.pick([
      this.#random.between(0, 30),
      this.#random.between(0, 120),
      this.#random.between(0, 500),
    ]);
    const again = this.#random.chance(0.15) ? this.#random.between(0, 300) : undefined;
    let struck: Promise<void> | undefined;
    const timer = setTimeout(() => {
      struck = this.#kill(target, again);
    }, delay);
    return async () => {
      clearTimeout(timer);
      await struck;
    };
  }

  async #kill(target: Target, again: number | undefined): Promise<void> {
    this.left -= 1;
    this.#findings.count(`kills: kills of ${target}`);
    this.#findings.count('kills: kills');
    await Promise.all([
      ...(target === 'bridge' ? [] : [this.#place.killServer()]),
      ...(target === 'server' ? [] : [this.#place.killBridge()]),
    ]);
    if (again === undefined || target === 'bridge') return;
    await pause(again);
    this.left -= 1;
    this.#findings.count('kills: kills of a server that was just starting');
    this.#findings.count('kills: kills');
    await this.#place.killServer();
  }
}
