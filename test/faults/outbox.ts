/** B1, B3: SIGKILL of the bridge at each write to its database, before it is made and when it is durable. */
import { setTimeout as pause } from 'node:timers/promises';
import { BridgeDatabase } from '../../bridge/state/database.ts';
import { Outbox } from '../../bridge/state/outbox.ts';
import { BridgeFlow } from './bridge-flow.ts';
import { Disconnected } from './a2a-client.ts';
import type { Side } from './appends.ts';
import { must, type Findings } from './findings.ts';
import { checkFlow, findTasks } from './flow-checks.ts';
import { Place } from './place.ts';
import type { Programs } from './programs.ts';
import { Random } from './random.ts';
import { Verdicts } from './verdicts.ts';
import { fixedWorkload } from './workload.ts';

/** A bridge that can reach its agent has delivered by then, in milliseconds. */
const ARRIVAL_MS = 30_000;
const LOOK_MS = 20;
/** The requests of one flow; far more than it takes. */
const MAX_STEPS = 100;

/** One death and what follows. @returns whether there was such a write; if not, the run has come to its end. */
export async function deathAtWrite(
  where: { number: number; side: Side },
  programs: Programs,
  findings: Findings,
): Promise<boolean> {
  const { number, side } = where;
  // The same flow and the same decisions for every write of it.
  const random = new Random(findings.seed, 'outbox');
  const place = await Place.open({ programs, random: new Random(findings.seed, 'outbox', number, side) });
  try {
    const flow = new BridgeFlow({
      workload: fixedWorkload('run'),
      workspace: place.home.workspace,
      random,
      verdicts: new Verdicts(random),
      call: (name, args) => place.callTool(name, args),
    });
    await place.startBridge({
      script: programs.dyingBridge,
      env: { FAULTS_DIE_AT: `${side}:${number}` },
    });
    let died = await finish(flow);
    // The last write is made when the person has the result already.
    if (!died) died = (await place.closeBridge()) === null;
    if (!died) return false;
    if (number === 1) await checkFirstWrite(side, flow, place);
    await finish(flow);
    must(flow.done, 'the flow was cut off with nobody there to cut it');
    const client = await place.client();
    const { workspace } = place.home;
    await checkFlow('outbox', flow, { client, workspace, seen: [], findings });
    await mustBeClosed(flow, place);
    findings.count(`outbox: deaths ${side} a write`);
    return true;
  } finally {
    await place.close();
  }
}

/** B1: what was not written down has not left; what was written down leaves, with nobody's further doing. */
async function checkFirstWrite(side: Side, flow: BridgeFlow, place: Place): Promise<void> {
  const client = await place.client();
  const tasks = (): Promise<number> => findTasks(client, flow).then(({ length }) => length);
  if (side === 'before') return must((await tasks()) === 0, 'a message left before it was written down');
  await place.startBridge();
  for (const deadline = performance.now() + ARRIVAL_MS; (await tasks()) === 0; await pause(LOOK_MS))
    must(performance.now() < deadline, 'the next bridge has not sent what was written down');
}

/** Until the flow is done, or its bridge has died. @returns whether it has died */
async function finish(flow: BridgeFlow): Promise<boolean> {
  for (let steps = 0; !flow.done; steps++) {
    must(steps < MAX_STEPS, `the flow has not come to an end after ${steps} requests`);
    try {
      await flow.step();
    } catch (error) {
      if (error instanceof Disconnected) return true;
      throw error;
    }
  }
  return false;
}

/** The next bridge finds the result again. Once that has handed it over, no entry is open. */
async function mustBeClosed(flow: BridgeFlow, place: Place): Promise<void> {
  await flow.collect();
  const code = await place.closeBridge();
  must(code === 0, `the bridge, whose client has gone, had the exit code ${code}`);
  const database = await BridgeDatabase.open(place.bridgeHome);
  const open = new Outbox(database).open().map(({ messageId }) => messageId);
  database.close();
  must(open.length === 0, `handed over, and still in the outbox: ${open.join(', ')}`);
}
