/** Cuts of single connections to a server that lives: every byte of a recorded response, and random ones of everything. */
import { setTimeout as pause } from 'node:timers/promises';
import { A2aFlow } from './a2a-flow.ts';
import { A2aClient, Disconnected } from './a2a-client.ts';
import { BridgeFlow } from './bridge-flow.ts';
import { must, type Findings } from './findings.ts';
import { checkFlow, findTasks } from './flow-checks.ts';
import type { Flow } from './flow.ts';
import { mustContinue } from './journal-checks.ts';
import { Place } from './place.ts';
import type { Programs } from './programs.ts';
import { Random } from './random.ts';
import { ReadingAlong } from './reading-along.ts';
import { TaskReader, wholeJournal } from './task-reader.ts';
import { TcpProxy, type CutKind, type Treatment } from './tcp-proxy.ts';
import { Verdicts } from './verdicts.ts';
import { randomWorkload, smallWorkload } from './workload.ts';

/** So many rounds take every byte of the recorded response once. */
export const STRIDE = 16;
/** Cuts of random connections in one round, before what is left runs undisturbed. */
const RANDOM_CUTS = 30;
const MAX_FLOWS = 25;
const MAX_STEPS = 300;
const ARRIVAL_MS = 30_000;
const LOOK_MS = 10;
const KINDS: readonly [CutKind, ...CutKind[]] = ['reset', 'end', 'half-close'];

export async function proxyRound(round: number, programs: Programs, findings: Findings): Promise<void> {
  const random = new Random(findings.seed, 'proxy', round);
  const proxy = await TcpProxy.listen();
  const serverArgs = ['--public-url', proxy.url];
  const place = await Place.open({ programs, random, agentUrl: proxy.url, serverArgs });
  proxy.target = place.port;
  try {
    const { token } = await place.serving();
    const through = new A2aClient({ url: proxy.url, token });
    const scene = { place, proxy, through, random, findings };
    await everyByte(round, scene);
    await randomCuts(round, scene);
    await killedUnheard(round, scene);
    await place.stopServer();
  } finally {
    await place.close();
    await proxy.close();
  }
}

interface Scene {
  place: Place;
  proxy: TcpProxy;
  through: A2aClient;
  random: Random;
  findings: Findings;
}

/** Each n-th byte of one response, a different n-th in each round. */
async function everyByte(round: number, { place, proxy, through, random, findings }: Scene): Promise<void> {
  const parts = {
    workload: smallWorkload(`p${round}s`),
    workspace: place.home.workspace,
    random,
    verdicts: new Verdicts(random),
  };
  const flow = new A2aFlow(parts);
  const client = await place.client();
  while (!flow.done) await flow.step(client);
  const taskId = flow.taskId ?? '';
  const whole = await wholeJournal(client, taskId);
  const length = await responseLength(proxy, through, taskId);
  findings.count('proxy: bytes of the recorded response', length);
  for (let after = round % STRIDE; after <= length; after += STRIDE) {
    const reader = new TaskReader(taskId);
    const how = KINDS[Math.floor(after / STRIDE) % KINDS.length] ?? 'reset';
    let treated = false;
    proxy.treat = () => {
      if (treated) return {};
      treated = true;
      return { cut: { direction: 'down', after, how } };
    };
    proxy.onCut = () => {
      findings.count('proxy: cuts');
      findings.count('proxy: cuts at a byte of the recorded response');
    };
    for (let tries = 0; reader.position < (whole.at(-1)?.seq ?? 0); tries++) {
      must(
        tries < 5,
        `cut at byte ${after} (${how}), the stream was not read to its end in ${tries} readings`,
      );
      await reader.read(through).catch(unlessDisconnected);
    }
    must(
      reader.seen.length === whole.length,
      `cut at byte ${after} (${how}): ${reader.seen.length} of ${whole.length} events came (gap)`,
    );
    mustContinue(reader.seen, whole);
  }
  proxy.treat = () => ({});
}

async function responseLength(proxy: TcpProxy, through: A2aClient, taskId: string): Promise<number> {
  let bytes = 0;
  proxy.treat = () => ({});
  proxy.onBytes = (count) => (bytes += count);
  await wholeJournal(through, taskId);
  proxy.onBytes = () => undefined;
  return bytes;
}

function unlessDisconnected(error: unknown): void {
  if (!(error instanceof Disconnected)) throw error;
}

/** Whole flows, by bridge and by bare client, whose connections are cut, slowed down and doubled anywhere. */
async function randomCuts(round: number, scene: Scene): Promise<void> {
  const { place, proxy, random, findings } = scene;
  const cuts = { left: RANDOM_CUTS };
  proxy.treat = () => (cuts.left > 0 ? randomTreatment(random, findings) : {});
  proxy.onCut = ({ direction, how }) => {
    cuts.left -= 1;
    findings.count('proxy: cuts');
    findings.count(`proxy: cuts at a random byte ${direction === 'up' ? 'to' : 'from'} the server, ${how}`);
  };
  for (let flows = 0; cuts.left > 0 && flows < MAX_FLOWS; flows++) {
    const parts = {
      workload: randomWorkload(random, `p${round}f${flows}`),
      workspace: place.home.workspace,
      random,
      verdicts: new Verdicts(random),
    };
    const flow =
      flows % 3 === 2
        ? new BridgeFlow({ ...parts, call: (name, args) => place.callTool(name, args) })
        : new A2aFlow(parts);
    await runCut(flow, scene);
  }
}

async function runCut(flow: Flow, { place, through, findings }: Scene): Promise<void> {
  const reading = new ReadingAlong({ flow, client: async () => through });
  try {
    for (let steps = 0; !flow.done; steps++) {
      must(steps < MAX_STEPS, `${flow.workload.name} has not come to an end after ${steps} requests`);
      await flow.step(through).catch(unlessDisconnected);
    }
    await reading.toEnd();
    const { seen } = reading;
    const client = await place.client();
    await checkFlow('proxy', flow, { client, workspace: place.home.workspace, seen, findings });
    findings.count('proxy: events seen by readers', seen.length);
    if (!(flow instanceof BridgeFlow)) return;
    findings.count('proxy: flows over the bridge');
    findings.count('proxy: answers of the bridge that were errors', flow.errors.length);
  } finally {
    await reading.stop();
  }
}

/** R65, B1: the server has the message, its answer is lost, and the bridge is killed: the next one must not send another. */
async function killedUnheard(round: number, scene: Scene): Promise<void> {
  const { place, proxy, random, findings } = scene;
  proxy.treat = () => ({});
  const flow = new BridgeFlow({
    workload: randomWorkload(random, `p${round}u`),
    workspace: place.home.workspace,
    random,
    verdicts: new Verdicts(random),
    call: (name, args) => place.callTool(name, args),
  });
  // A bridge that knows the agent already: what is lost is the answer to the message.
  await place.callTool('list_all_active_sessions', {});
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
  await place.killBridge();
  await unheard;
  proxy.mute = false;
  await runCut(flow, scene);
  findings.count('proxy: bridges killed between sending and answering');
}

function randomTreatment(random: Random, findings: Findings): Treatment {
  const doubled = random.chance(0.15);
  if (doubled) findings.count('proxy: connections doubled');
  const slow = random.chance(0.2);
  if (slow) findings.count('proxy: connections delayed or throttled');
  const direction = random.chance(0.4) ? 'up' : 'down';
  return {
    ...(doubled && { doubled }),
    ...(slow && { delayMs: random.between(0, 3), piece: random.between(50, 2000) }),
    ...(random.chance(0.7) && {
      cut: {
        direction,
        after: random.chance(0.5) ? random.between(0, 1_000) : random.between(0, 20_000),
        how: random.pick(KINDS),
      },
    }),
  };
}
