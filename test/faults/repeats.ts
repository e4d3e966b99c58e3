/**
 * R99: kills the bridge, the server or both before or after the answer to a delegation. The client repeats the same
 * call until it has an answer. There must be one task. After the answer, the same words must start another task.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { BridgeFlow, type CallTool } from './bridge-flow.ts';
import { Disconnected } from './a2a-client.ts';
import { must, type Findings } from './findings.ts';
import { checkFlow, findTasks } from './flow-checks.ts';
import { Place } from './place.ts';
import type { Programs } from './programs.ts';
import type { Random as Choices } from './random.ts';
import { Random } from './random.ts';
import { FlowReader } from './flow-reader.ts';
import { Verdicts } from './verdicts.ts';
import { smallWorkload } from './workload.ts';

/** The number of delegations in one round. */
const FLOWS = 4;
/** The maximum number of kills during one delegation. */
const KILLS = 3;
/** A flow that needs more requests than this has failed. A normal flow needs far fewer. */
const MAX_STEPS = 60;

/**
 * The time of a kill: at an event of the task, after some milliseconds, or at the answer. The kill loses that answer.
 */
type Moment =
  | { type: 'event'; events: number; later: number }
  | { type: 'time'; after: number }
  | { type: 'answer' };

interface Strike {
  target: 'server' | 'bridge' | 'both';
  moment: Moment;
  /** The time until a killed server starts again, in milliseconds. */
  away: number;
}

export async function repeatsRound(round: number, programs: Programs, findings: Findings): Promise<void> {
  const random = new Random(findings.seed, 'repeats', round);
  const place = await Place.open({ programs, random });
  try {
    for (let flows = 0; flows < FLOWS; flows++)
      await repeatedFlow(`r${round}f${flows}`, { place, random, findings });
    await place.stopServer();
  } finally {
    await place.close();
  }
}

interface Scene {
  place: Place;
  random: Choices;
  findings: Findings;
}

async function repeatedFlow(name: string, { place, random, findings }: Scene): Promise<void> {
  const strikes = Array.from({ length: random.between(1, KILLS) }, () => strikeOf(random));
  let heard: (() => void) | undefined;
  const call: CallTool = async (tool, args) => {
    const struck = flow.begun ? undefined : strikes.shift();
    if (struck === undefined) return place.bridge.callTool(tool, args);
    findings.count(`repeats: kills of ${struck.target}, ${struck.moment.type}`);
    findings.count('repeats: kills');
    const { over, onEvent } = begin(struck, place);
    heard = onEvent;
    try {
      const result = await place.bridge.callTool(tool, args);
      if (struck.moment.type !== 'answer') return result;
      await kill(struck, place);
      throw new Disconnected('the answer was lost');
    } finally {
      await over();
    }
  };
  const flow: BridgeFlow = new BridgeFlow({
    workload: smallWorkload(name),
    workspace: place.home.workspace,
    random,
    verdicts: new Verdicts(random),
    call,
    whenUnanswered: 'repeat the call',
  });
  const reading = new FlowReader({
    flow,
    client: () => place.client(),
    onEvent: () => heard?.(),
    lookMs: 2,
  });
  try {
    for (let steps = 0; !flow.done; steps++) {
      must(steps < MAX_STEPS, () => `${name} has not ended: ${flow.errors.at(-1) ?? 'no error'}`);
      try {
        await flow.step();
      } catch (error) {
        if (!(error instanceof Disconnected)) throw error;
        findings.count('repeats: repeated calls');
      }
    }
    const client = await place.client();
    const tasks = await findTasks(client, flow);
    must(tasks.length === 1, `${name} was delegated once, and has become ${tasks.length} tasks`);
    await reading.toEnd();
    const { workspace } = place.home;
    await checkFlow('repeats', flow, { client, workspace, seen: reading.seen, findings });
    const again = await flow.delegateAgain();
    must(again !== flow.taskId, `${name} was delegated again on purpose, but got its earlier task`);
  } finally {
    await reading.stop();
  }
}

function strikeOf(random: Choices): Strike {
  const moments: [Moment, Moment, Moment, Moment] = [
    { type: 'answer' },
    { type: 'event', events: random.between(1, 8), later: random.between(0, 8) },
    // At the eighth event the server asks for the decision, and the call returns.
    { type: 'event', events: random.between(6, 9), later: random.between(0, 3) },
    { type: 'time', after: random.between(0, 120) },
  ];
  const moment = random.pick(moments);
  return {
    // Only a killed bridge loses its answer. If only the server died, the client would get the answer.
    target:
      moment.type === 'answer' ? random.pick(['bridge', 'both']) : random.pick(['server', 'bridge', 'both']),
    moment,
    away: random.pick([0, 0, 400, 3_000]),
  };
}

/** Plans the kill. @returns a function that waits for the kill, or cancels it if the call has ended first */
function begin(strike: Strike, place: Place): { over: () => Promise<void>; onEvent: () => void } {
  const { moment } = strike;
  const timers: NodeJS.Timeout[] = [];
  let struck: Promise<void> | undefined;
  const begun = (): void => {
    struck ??= kill(strike, place);
  };
  const later = (ms: number): void => {
    timers.push(setTimeout(begun, ms));
  };
  let events = moment.type === 'event' ? moment.events : Number.POSITIVE_INFINITY;
  if (moment.type === 'time') later(moment.after);
  return {
    onEvent() {
      events -= 1;
      if (events === 0 && moment.type === 'event') later(moment.later);
    },
    async over() {
      // The call has ended, so no later event may start the kill.
      events = Number.POSITIVE_INFINITY;
      for (const timer of timers) clearTimeout(timer);
      await struck;
    },
  };
}

async function kill({ target, away }: Strike, place: Place): Promise<void> {
  await Promise.all([
    target === 'server' ? undefined : place.bridge.kill(),
    target === 'bridge' ? undefined : place.endServer(),
  ]);
  if (target === 'bridge') return;
  await pause(away);
  await place.serving().catch(() => undefined);
}
