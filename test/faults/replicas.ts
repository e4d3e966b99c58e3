/**
 * Three servers on one PostgreSQL. SIGKILL, SIGSTOP, and cut or stalled connections to the database hit servers at random
 * times, during whole approval flows. Each request goes to a random server. Meanwhile a proxy cuts, slows and doubles the
 * connections of the clients. The copy of a request may reach another server than the request.
 */
import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { openPostgresJournal } from '../../a2a-server/journal/postgres/postgres-journal.ts';
import { Refusal } from '../support/rpc-answer.ts';
import { homeDirectoryOf, newServerHome } from '../support/server-program.ts';
import { A2aClient, Disconnected } from './a2a-client.ts';
import { BridgeFlow } from './bridge-flow.ts';
import { BridgeProcess } from './bridge-process.ts';
import type { FaultDatabase } from './fault-database.ts';
import { FaultTiming } from './fault-timing.ts';
import { must, type Findings } from './findings.ts';
import { checkFlow, readJournal } from './flow-checks.ts';
import { FlowReader } from './flow-reader.ts';
import type { Flow } from './flow.ts';
import { freePort } from '../support/free-port.ts';
import { makeFlow } from './make-flow.ts';
import type { Programs } from './programs.ts';
import { Random } from './random.ts';
import { randomTreatment } from './random-treatment.ts';
import { Replica, TEAM } from './replica.ts';
import { TcpProxy } from './tcp-proxy.ts';
import { randomWorkload } from './workload.ts';

const SERVERS = 3;
/** The number of faults in one round. All of them hit the same servers. */
const FAULTS = 10;
/** A flow that needs more requests than this has failed. */
const MAX_STEPS = 300;
/** A lease lasts 4 s. So some faults end before the lease, and some after it. */
const LONGEST_FAULT_MS = 8_000;
const TOKEN = 'a-token-of-all-servers-0123456789';
/** The pause after a request that no server has answered, in milliseconds. */
const AGAIN_MS = 50;

interface Cluster {
  replicas: readonly [Replica, ...Replica[]];
  random: Random;
  /** All clients connect here. Each connection leads to a random server. */
  balancer: TcpProxy;
  bridge: BridgeProcess;
  workspace: string;
}

export async function replicasRound(
  round: number,
  { programs, findings, database }: { programs: Programs; findings: Findings; database: FaultDatabase },
): Promise<void> {
  const random = new Random(findings.seed, 'replicas', round);
  const place = await database.create();
  const home = await newServerHome();
  const { workspace } = home;
  const balancer = await TcpProxy.listen();
  const replicas: Replica[] = [];
  const bridge = new BridgeProcess({
    program: programs.bridge,
    directory: workspace,
    stateDir: `${home.stateDir}/bridge`,
    agentUrl: balancer.url,
    token: async () => TOKEN,
  });
  try {
    for (let index = 0; index < SERVERS; index += 1)
      replicas.push(
        await Replica.start({
          program: programs.server,
          databaseUrl: place.url,
          port: await freePort((low, high) => random.between(low, high)),
          workspace,
          token: TOKEN,
          publicUrl: balancer.url,
        }),
      );
    await Promise.all(replicas.map((replica) => replica.ready()));
    const [first, ...others] = replicas;
    must(first !== undefined, 'no server has started');
    const cluster: Cluster = { replicas: [first, ...others], random, balancer, bridge, workspace };
    await runFlows(round, cluster, findings);
    await bridge.kill();
    for (const replica of replicas) await replica.stop();
    await checkJournal(place.url, findings);
  } finally {
    await bridge.kill();
    await Promise.all(replicas.map((replica) => replica.close()));
    await balancer.close();
    await rm(homeDirectoryOf(home), { recursive: true, force: true });
    await place.remove();
  }
}

async function runFlows(round: number, cluster: Cluster, findings: Findings): Promise<void> {
  const { random } = cluster;
  const faults = new ReplicaFaults(cluster, findings);
  treatClients(cluster, faults, findings);
  for (let flows = 0; faults.left > 0; flows++) {
    const workload = randomWorkload(random, `c${round}f${flows}`);
    const flow = makeFlow(random.chance(0.3), cluster, random, workload);
    await runFlow(flow, cluster, faults, findings);
  }
}

/** Sends each connection of a client to a random server, and cuts, slows or doubles it while faults are left. */
function treatClients(
  { balancer, replicas, random }: Cluster,
  faults: ReplicaFaults,
  findings: Findings,
): void {
  const anyPort = (): number => random.pick(replicas).port;
  balancer.treat = () => {
    balancer.target = anyPort();
    return faults.left > 0 ? randomTreatment({ part: 'replicas', random, findings, copyTo: anyPort }) : {};
  };
  balancer.onCut = ({ direction, how }) => {
    findings.count('replicas: cuts of clients');
    findings.count(`replicas: cuts ${direction === 'up' ? 'to' : 'from'} a server, ${how}`);
  };
}

async function runFlow(
  flow: Flow,
  { replicas, random, workspace, balancer }: Cluster,
  faults: ReplicaFaults,
  findings: Findings,
): Promise<void> {
  const through = new A2aClient({ url: balancer.url, token: TOKEN });
  const reading = new FlowReader({
    flow,
    client: async () => through,
    onEvent: () => faults.heard(),
    isTemporary,
  });
  const pending: Promise<void>[] = [];
  try {
    for (let steps = 0; !flow.done; steps++) {
      must(steps < MAX_STEPS, `${flow.workload.name} has not ended after ${steps} requests`);
      const struck = faults.strike();
      try {
        await flow.step(through);
      } catch (error) {
        if (!isTemporary(error)) throw error;
        findings.count(
          `replicas: requests ${error instanceof Refusal ? 'refused, because the database was away' : 'cut off'}`,
        );
        await pause(AGAIN_MS);
      } finally {
        // The other servers go on while the fault lasts. So the flow does, too.
        pending.push(struck());
      }
    }
    await Promise.all(pending);
    await Promise.all(replicas.map((replica) => replica.ready()));
    await reading.toEnd();
    const { seen } = reading;
    const client = new A2aClient({ url: `http://127.0.0.1:${random.pick(replicas).port}`, token: TOKEN });
    await checkFlow('replicas', flow, { client, workspace, seen, findings });
    findings.count('replicas: events seen by readers', seen.length);
    if (flow instanceof BridgeFlow) findings.count('replicas: flows over the bridge');
  } finally {
    await Promise.allSettled(pending);
    await reading.stop();
  }
}

/** True for a request to send again: its connection was cut, or the server cannot reach the database. */
function isTemporary(error: unknown): boolean {
  return error instanceof Disconnected || (error instanceof Refusal && error.reason === 'STORAGE');
}

/** Plans and counts the faults of a round. */
class ReplicaFaults {
  left = FAULTS;
  readonly #cluster: Cluster;
  readonly #findings: Findings;
  readonly #timing: FaultTiming;

  constructor(cluster: Cluster, findings: Findings) {
    this.#cluster = cluster;
    this.#findings = findings;
    this.#timing = new FaultTiming(cluster.random);
  }

  heard(): void {
    this.#timing.heard();
  }

  /** Plans a fault for the next request, or none. @returns a function that waits for its end, or cancels it */
  strike(): () => Promise<void> {
    const { random, replicas } = this.#cluster;
    if (this.left <= 0 || random.chance(0.2)) return async () => undefined;
    const replica = random.pick(replicas);
    const ms = random.between(0, random.pick([500, LONGEST_FAULT_MS]));
    const fault = random.pick(FAULT_KINDS);
    return this.#timing.plan(() => {
      this.left -= 1;
      this.#findings.count('replicas: faults');
      this.#findings.count(`replicas: ${fault.name}`);
      return fault.act(replica, ms);
    });
  }
}

interface FaultKind {
  name: string;
  act: (replica: Replica, ms: number) => Promise<void>;
}

const KILL: FaultKind = { name: 'kills', act: (replica, ms) => replica.kill(ms) };

/** Half of the faults are kills. */
const FAULT_KINDS: readonly [FaultKind, ...FaultKind[]] = [
  KILL,
  KILL,
  KILL,
  { name: 'processes stopped and continued', act: (replica, ms) => replica.freeze(ms) },
  { name: 'database connections cut', act: (replica) => replica.cutDatabase() },
  { name: 'database connections stalled', act: (replica, ms) => replica.stallDatabase(ms) },
];

/** J1: every task in the database has its events 1, 2, 3 … */
async function checkJournal(url: string, findings: Findings): Promise<void> {
  const journal = await openPostgresJournal({ url, clock: Date.now });
  try {
    for (const entries of (await readJournal(journal, TEAM)).values())
      findings.count('replicas: journal entries', entries.length);
  } finally {
    await journal.close();
  }
}
