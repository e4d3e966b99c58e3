/** B1, B3: SIGKILL of the bridge at each write to its database, before the write and after it is durable. */
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { BridgeDatabase } from '../../bridge/state/database.ts';
import { Outbox } from '../../bridge/state/outbox.ts';
import { BridgeFlow } from './bridge-flow.ts';
import { type A2aClient, Disconnected } from './a2a-client.ts';
import { type Side, SIDES } from './appends.ts';
import type { BridgeProcess } from './bridge-process.ts';
import { must, type Findings } from './findings.ts';
import { checkFlow, findTasks } from './flow-checks.ts';
import { Place } from './place.ts';
import type { Programs } from './programs.ts';
import { Random } from './random.ts';
import { Verdicts } from './verdicts.ts';
import { fixedWorkload } from './workload.ts';

/** A bridge that can reach its agent must deliver a message within this time, in milliseconds. */
const ARRIVAL_MS = 30_000;
const LOOK_MS = 20;
/** A flow that needs more requests than this has failed. A normal flow needs far fewer. */
const MAX_STEPS = 100;

/**
 * Kills a bridge before this write, and another one after it. Both use one server, and continue their own work.
 * @returns false if both runs ended before this write
 */
export async function deathsAtWrite(
  number: number,
  programs: Programs,
  findings: Findings,
): Promise<boolean> {
  const place = await Place.open({ programs, random: new Random(findings.seed, 'outbox', number) });
  try {
    const died: boolean[] = [];
    for (const side of SIDES) died.push(await deathAtWrite({ number, side }, { place, programs, findings }));
    return died.includes(true);
  } finally {
    await place.close();
  }
}

interface Scene {
  place: Place;
  programs: Programs;
  findings: Findings;
}

/** Kills the bridge once, at this write, and continues. @returns false if the run ended before this write */
async function deathAtWrite(
  { number, side }: { number: number; side: Side },
  { place, programs, findings }: Scene,
): Promise<boolean> {
  // Every kill uses the same flow and the same decisions.
  const random = new Random(findings.seed, 'outbox');
  const { workspace } = place.home;
  const bridgeHome = join(place.home.stateDir, `bridge-${side}`);
  const bridge = place.newBridge(bridgeHome);
  try {
    const flow = new BridgeFlow({
      workload: fixedWorkload(`run${side}`),
      workspace,
      random,
      verdicts: new Verdicts(random),
      call: (name, args) => bridge.callTool(name, args),
    });
    await bridge.start({
      script: await programs.dyingBridge(),
      env: { FAULTS_DIE_AT: `${side}:${number}` },
    });
    let died = await finish(flow);
    // The bridge writes once more after the person has the result. So the bridge may die at its end.
    if (!died) died = (await bridge.close()) === null;
    if (!died) return false;
    const client = await place.client();
    if (number === 1) await checkFirstWrite(side, flow, { bridge, client });
    await finish(flow);
    must(flow.done, 'a connection broke although no fault was active');
    await checkFlow('outbox', flow, { client, workspace, seen: [], findings });
    await mustBeClosed(flow, { bridge, bridgeHome });
    findings.count(`outbox: deaths ${side} a write`);
    return true;
  } finally {
    await bridge.kill();
  }
}

/** B1: without the write, nothing is sent. With the write, the next bridge sends the message by itself. */
async function checkFirstWrite(
  side: Side,
  flow: BridgeFlow,
  { bridge, client }: { bridge: BridgeProcess; client: A2aClient },
): Promise<void> {
  const tasks = (): Promise<number> => findTasks(client, flow).then(({ length }) => length);
  if (side === 'before')
    return must((await tasks()) === 0, 'the bridge sent a message before it was in the outbox');
  await bridge.start();
  for (const deadline = performance.now() + ARRIVAL_MS; (await tasks()) === 0; await pause(LOOK_MS))
    must(performance.now() < deadline, 'the next bridge has not sent the message from the outbox');
}

/**
 * Repeats the flow's next request until the flow is done or the bridge has died. @returns true if the bridge has died
 */
async function finish(flow: BridgeFlow): Promise<boolean> {
  for (let steps = 0; !flow.done; steps++) {
    must(steps < MAX_STEPS, `the flow has not ended after ${steps} requests`);
    try {
      await flow.step();
    } catch (error) {
      if (error instanceof Disconnected) return true;
      throw error;
    }
  }
  return false;
}

/** Checks that the next bridge returns the same result, and that the outbox then has no open entry. */
async function mustBeClosed(
  flow: BridgeFlow,
  { bridge, bridgeHome }: { bridge: BridgeProcess; bridgeHome: string },
): Promise<void> {
  await flow.collect();
  const code = await bridge.close();
  must(code === 0, `the bridge exited with ${code} after its client had closed stdin`);
  const database = await BridgeDatabase.open(bridgeHome);
  const open = new Outbox(database).open().map(({ messageId }) => messageId);
  database.close();
  must(open.length === 0, `delivered, but still in the outbox: ${open.join(', ')}`);
}
