/** SIGKILL at random times to the server, the bridge or both, during whole approval flows and during restarts. */
import { Disconnected } from './a2a-client.ts';
import { BridgeFlow } from './bridge-flow.ts';
import { must, type Findings } from './findings.ts';
import { checkFlow, readJournalFile } from './flow-checks.ts';
import type { Flow } from './flow.ts';
import { Killer } from './killer.ts';
import { makeFlow } from './make-flow.ts';
import { Place } from './place.ts';
import type { Programs } from './programs.ts';
import { Random } from './random.ts';
import { FlowReader } from './flow-reader.ts';
import { randomWorkload } from './workload.ts';

/** The number of kills in one round. All of them use the same home directory. */
const KILLS = 10;
/** A flow that needs more requests than this has failed. */
const MAX_STEPS = 200;

export async function killsRound(round: number, programs: Programs, findings: Findings): Promise<void> {
  const random = new Random(findings.seed, 'kills', round);
  const place = await Place.open({ programs, random });
  const killer = new Killer(place, { kills: KILLS, random, findings });
  try {
    for (let flows = 0; killer.left > 0; flows++) {
      const workload = randomWorkload(random, `k${round}f${flows}`);
      const flow = makeFlow(random.chance(0.5), place, random, workload);
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
  const bridged = flow instanceof BridgeFlow;
  const reading = new FlowReader({ flow, client: () => place.client(), onEvent: () => killer.heard() });
  try {
    for (let steps = 0; !flow.done; steps++) {
      must(steps < MAX_STEPS, `${flow.workload.name} has not ended after ${steps} requests`);
      const struck = killer.strike(bridged);
      try {
        await flow.step(await place.client());
      } catch (error) {
        if (!(error instanceof Disconnected)) throw error;
        findings.count('kills: requests cut off');
      } finally {
        await struck();
      }
    }
    const client = await startedClient(place);
    await reading.toEnd();
    const { seen } = reading;
    await checkFlow('kills', flow, { client, workspace: place.home.workspace, seen, findings });
    findings.count('kills: events seen by readers', seen.length);
    if (!bridged) return;
    findings.count('kills: flows over the bridge');
    findings.count('kills: answers of the bridge that were errors', flow.errors.length);
  } finally {
    await reading.stop();
  }
}

/**
 * @returns a client of a ready server. If the last kill hit a starting server, this function waits for the next one.
 */
async function startedClient(place: Place): ReturnType<Place['client']> {
  for (;;) {
    try {
      return await place.client();
    } catch (error) {
      if (!(error instanceof Disconnected)) throw error;
    }
  }
}
