/**
 * R28: the disk becomes full during a run. The programs must refuse a write with a sentence that says what to do,
 * write nothing partly, still serve reads, and continue by themselves when there is space again.
 */
import { stat } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { Refusal } from '../support/rpc-answer.ts';
import { writtenMessage } from '../support/a2a-message.ts';
import { Disconnected, type A2aClient } from './a2a-client.ts';
import { hasFileSizeLimits, liftFileSizeLimit, limitFileSize } from './file-size-limit.ts';
import { must, type Findings } from './findings.ts';
import { checkFlow, findTasks, readJournalFile, tasksThatSay } from './flow-checks.ts';
import type { Flow } from './flow.ts';
import { makeBridgeFlow, makeFlow } from './make-flow.ts';
import { Place } from './place.ts';
import type { Programs } from './programs.ts';
import { Random } from './random.ts';
import { FlowReader } from './flow-reader.ts';
import { randomWorkload } from './workload.ts';

/** The number of delegations in one round. The disk becomes full once during each delegation. */
const FLOWS = 3;
const MAX_STEPS = 100;
/**
 * With free space again, a stopped task must continue within this time, in milliseconds. It normally needs a few
 * seconds.
 */
const LATE_MS = 60_000;
/** The maximum number of messages that fill the disk. Far fewer are normally enough. */
const MAX_MESSAGES = 200;

export async function diskRound(round: number, programs: Programs, findings: Findings): Promise<void> {
  if (!(await hasFileSizeLimits())) {
    findings.count('disk: rounds that were left out, for want of prlimit');
    return;
  }
  const random = new Random(findings.seed, 'disk', round);
  const place = await Place.open({ programs, random });
  try {
    const scene = { place, random, findings };
    for (let flows = 0; flows < FLOWS; flows++) {
      const workload = randomWorkload(random, `d${round}f${flows}`);
      const flow = makeFlow(random.chance(0.3), place, random, workload);
      await runFull(flow, `d${round}f${flows}full`, scene);
    }
    await fullOutbox(round, scene);
    await place.stopServer();
    await readJournalFile(place.journalPath);
  } finally {
    await place.close();
  }
}

interface Scene {
  place: Place;
  random: Random;
  findings: Findings;
}

async function runFull(flow: Flow, name: string, scene: Scene): Promise<void> {
  const { place, random, findings } = scene;
  let events = random.between(1, random.pick([3, 12, 60]));
  let full: Promise<void> | undefined;
  const onEvent = (): void => {
    events -= 1;
    if (events === 0) full = fillUp(name, scene);
    full?.catch(() => undefined);
  };
  const reading = new FlowReader({ flow, client: () => place.client(), onEvent });
  const began = performance.now();
  try {
    for (let steps = 0; !flow.done; steps++) {
      must(steps < MAX_STEPS, `${flow.workload.name} has not ended after ${steps} requests`);
      must(
        performance.now() - began < LATE_MS,
        `${flow.workload.name} does not continue although the disk has space again`,
      );
      await flow.step(await place.client()).catch((error: unknown) => {
        if (error instanceof Refusal && error.reason === 'STORAGE') {
          findings.count('disk: requests of a flow that were refused');
          return pause(100);
        }
        if (!(error instanceof Disconnected)) throw error;
        return undefined;
      });
    }
    // This wait never ends if the disk was not filled. Then the task has too few events.
    await full;
    await reading.toEnd();
    const client = await place.client();
    const { seen } = reading;
    await checkFlow('disk', flow, { client, workspace: place.home.workspace, seen, findings });
  } finally {
    await full?.catch(() => undefined);
    await reading.stop();
  }
}

/**
 * Limits the size of the journal's file. Then either lifts the limit, or kills the server and starts the next one.
 */
async function fillUp(name: string, { place, random, findings }: Scene): Promise<void> {
  const { server } = place;
  if (server === undefined) return;
  const client = await place.client();
  const { size } = await stat(`${place.journalPath}-wal`);
  await limitFileSize(server.pid, size + random.between(0, 20_000));
  findings.count('disk: times full');
  try {
    const refused = await firstRefused(client, name);
    // Reads need no space, and the refused message changed nothing.
    const found = await tasksThatSay(client, refused);
    must(found.length === 0, 'a refused message has become a task');
    must(server.log().includes('try again'), 'the log does not mention the full disk');
    await pause(random.between(0, 300));
    if (random.chance(0.3)) {
      findings.count('disk: kills while it was full');
      await place.killServer();
    }
    await liftFileSizeLimit(server.pid).catch(() => undefined);
    const next = await place.client();
    await say(next, refused);
    const made = await tasksThatSay(next, refused);
    must(made.length === 1, `a refused message that was sent again has become ${made.length} tasks`);
  } finally {
    await liftFileSizeLimit(server.pid).catch(() => undefined);
  }
}

/** Sends messages until the server refuses one. @returns the name of the refused message */
async function firstRefused(client: A2aClient, name: string): Promise<string> {
  for (let messages = 1; messages < MAX_MESSAGES; messages++) {
    const words = `${name}${messages}-`;
    try {
      await say(client, words);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      must(error.reason === 'STORAGE', `refused, but not because of the disk: ${error.message}`);
      must(/free/.test(error.message), `the refusal does not say what to do: ${error.message}`);
      return words;
    }
  }
  must(false, 'the server accepted every message although its journal cannot grow');
  return '';
}

async function say(client: A2aClient, words: string): Promise<void> {
  const message = writtenMessage(`say ${words} is all.`, { messageId: words });
  await client.call('SendMessage', { message, configuration: { returnImmediately: true } });
}

/** B1: if the outbox is full, the bridge refuses the delegation before it sends it. With space again, it delegates once. */
async function fullOutbox(round: number, { place, random, findings }: Scene): Promise<void> {
  const flow = makeBridgeFlow(place, random, randomWorkload(random, `d${round}o`));
  await place.bridge.callTool('list_all_active_sessions', {});
  const pid = place.bridge.pid;
  if (pid === undefined) return;
  await limitFileSize(pid, 0);
  await flow.step();
  const [refusal] = flow.errors;
  must(refusal !== undefined, 'the bridge accepted a delegation that it could not write to its outbox');
  must(/disk|space/.test(refusal), `the refusal does not say what to do: ${refusal}`);
  const client = await place.client();
  must((await findTasks(client, flow)).length === 0, 'a refused delegation has become a task');
  await liftFileSizeLimit(pid);
  for (let steps = 0; !flow.done; steps++) {
    must(steps < MAX_STEPS, `${flow.workload.name} has not ended after ${steps} requests`);
    await flow.step();
  }
  const { workspace } = place.home;
  await checkFlow('disk', flow, { client, workspace, seen: [], findings });
  findings.count('disk: outboxes that were full');
}
