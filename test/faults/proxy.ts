/** Cuts single connections to a running server: at every byte of a recording, and at random places of whole flows. */
import { setTimeout as pause } from 'node:timers/promises';
import { BridgeFlow } from './bridge-flow.ts';
import { must, type Findings } from './findings.ts';
import { everyByte, unlessDisconnected } from './every-byte.ts';
import { checkFlow, findTasks } from './flow-checks.ts';
import type { Flow } from './flow.ts';
import { makeBridgeFlow, makeFlow } from './make-flow.ts';
import type { Programs } from './programs.ts';
import { Random } from './random.ts';
import { FlowReader, type FlowReaderOptions } from './flow-reader.ts';
import { inScene, type Scene } from './scene.ts';
import { randomTreatment } from './random-treatment.ts';
import { randomWorkload } from './workload.ts';

/** The number of random cuts in one round. After them, the rest of the flow runs without faults. */
const RANDOM_CUTS = 30;
const MAX_FLOWS = 25;
const MAX_STEPS = 300;
const ARRIVAL_MS = 30_000;
const LOOK_MS = 10;

export async function proxyRound(round: number, programs: Programs, findings: Findings): Promise<void> {
  const random = new Random(findings.seed, 'proxy', round);
  await inScene({ programs, random, findings }, async (scene) => {
    await everyByte(round, scene);
    await randomCuts(round, scene);
    await killedUnheard(round, scene);
  });
}

/**
 * Runs whole flows with the bridge and with an A2A client. The proxy cuts, slows and doubles their connections at
 * random bytes.
 */
async function randomCuts(round: number, scene: Scene): Promise<void> {
  const { place, proxy, random, findings } = scene;
  const cuts = { left: RANDOM_CUTS };
  const treatment = { part: 'proxy', random, findings, copyTo: () => proxy.target };
  proxy.treat = () => (cuts.left > 0 ? randomTreatment(treatment) : {});
  proxy.onCut = ({ direction, how }) => {
    cuts.left -= 1;
    findings.count('proxy: cuts');
    findings.count(`proxy: cuts at a random byte ${direction === 'up' ? 'to' : 'from'} the server, ${how}`);
  };
  for (let flows = 0; cuts.left > 0 && flows < MAX_FLOWS; flows++) {
    const flow = makeFlow(flows % 3 === 2, place, random, randomWorkload(random, `p${round}f${flows}`));
    await runCut('proxy', flow, scene);
  }
}

/**
 * Runs a flow to its end and checks its guarantees. `part` names it in the report. @param reader a client that reads
 * the task; by default it uses the proxy
 */
export async function runCut(
  part: string,
  flow: Flow,
  { place, through, findings }: Scene,
  reader: Omit<FlowReaderOptions, 'flow'> = { client: async () => through },
): Promise<void> {
  const reading = new FlowReader({ flow, ...reader });
  try {
    for (let steps = 0; !flow.done; steps++) {
      must(steps < MAX_STEPS, `${flow.workload.name} has not ended after ${steps} requests`);
      await flow.step(through).catch(unlessDisconnected);
    }
    await reading.toEnd();
    const { seen } = reading;
    const client = await place.client();
    await checkFlow(part, flow, { client, workspace: place.home.workspace, seen, findings });
    findings.count(`${part}: events seen by readers`, seen.length);
    if (!(flow instanceof BridgeFlow)) return;
    findings.count(`${part}: flows over the bridge`);
    findings.count(`${part}: answers of the bridge that were errors`, flow.errors.length);
  } finally {
    await reading.stop();
  }
}

/**
 * R65, B1: the server has the message, but its answer is lost and the bridge is killed. The next bridge must not
 * create a second task.
 */
async function killedUnheard(round: number, scene: Scene): Promise<void> {
  const { place, proxy, random, findings } = scene;
  proxy.treat = () => ({});
  const flow = makeBridgeFlow(place, random, randomWorkload(random, `p${round}u`));
  // This call reads the agent card. So the next answer is the answer to the message.
  await place.bridge.callTool('list_all_active_sessions', {});
  const client = await place.client();
  proxy.mute = true;
  const unheard = flow.step().catch(unlessDisconnected);
  for (const deadline = performance.now() + ARRIVAL_MS; (await findTasks(client, flow)).length === 0;) {
    must(
      performance.now() < deadline,
      'the bridge did not deliver its delegation to a server that can be reached',
    );
    await pause(LOOK_MS);
  }
  await place.bridge.kill();
  await unheard;
  proxy.mute = false;
  await runCut('proxy', flow, scene);
  findings.count('proxy: bridges killed between sending and answering');
}
