/**
 * A peer accepts a connection and never answers, or stops in the middle of an answer. The time limits of the bridge
 * must end the request, the caller must learn what to do, and nothing may be lost.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { ToolResult } from '../integration/bridge/support/raw-client.ts';
import { BridgeFlow, type CallTool } from './bridge-flow.ts';
import { must, type Findings } from './findings.ts';
import { runCut } from './proxy.ts';
import type { Programs } from './programs.ts';
import { Random } from './random.ts';
import { inScene, type Scene } from './scene.ts';
import type { Cut } from './tcp-proxy.ts';
import { Verdicts } from './verdicts.ts';
import { randomWorkload } from './workload.ts';

/** The time after which MCP clients give up a call without progress, in milliseconds. */
const GIVEN_UP_MS = 60_000;
/**
 * A delegation with a stall must end within this time, in milliseconds. A stall in an open stream takes up to a minute.
 */
const LATE_MS = 170_000;

/** Each error must match one of these texts. The second text is the answer to a repeated decision. */
const WHAT_TO_DO = /Agent ".*try again|That decision stands|goes on trying/is;

const DECIDE = 'approve_or_deny_pending_action';

/** The times at which the first stall begins: during the request for the agent card, or later, after some bytes. */
const BEGINNINGS: readonly ((random: Random) => { card: boolean; cut: Cut })[] = [
  () => ({ card: true, cut: stall('down', 0) }),
  (random) => ({ card: true, cut: stall('down', random.between(1, 1_500)) }),
  () => ({ card: false, cut: stall('down', 0) }),
  (random) => ({ card: false, cut: stall('down', random.between(1, 1_500)) }),
  (random) => ({ card: false, cut: stall('down', random.between(1_500, 6_000)) }),
  (random) => ({ card: false, cut: stall('up', random.between(0, 700)) }),
];

const stall = (direction: Cut['direction'], after: number): Cut => ({ direction, after, how: 'stall' });

/** Runs one delegation for each beginning. They run in parallel, because they mostly wait. */
export async function stallsRound(round: number, programs: Programs, findings: Findings): Promise<void> {
  const flows = await Promise.allSettled(
    BEGINNINGS.map(async (beginning, index) => {
      const random = new Random(findings.seed, 'stalls', round, index);
      await inScene({ programs, random, findings }, (scene) =>
        stalledFlow(`s${round}f${index}`, beginning(random), scene),
      );
    }),
  );
  // Waits for all flows before it throws, because they share the programs.
  for (const flow of flows) if (flow.status === 'rejected') throw flow.reason;
}

async function stalledFlow(
  name: string,
  { card, cut }: { card: boolean; cut: Cut },
  scene: Scene,
): Promise<void> {
  const { place, proxy, random, findings } = scene;
  const cutNext = (next: Cut): void => {
    // The proxy stalls only new connections. So this closes the open connections.
    proxy.hangUp();
    const waiting = [next];
    proxy.treat = () => {
      const stalled = waiting.shift();
      return stalled === undefined ? {} : { cut: stalled };
    };
  };
  // The bridge first reads the task on this connection. After this number of bytes it sends the decision or reads
  // the answer.
  const atDecision = [
    random.chance(0.7) ? stall('up', random.between(400, 1_300)) : stall('down', random.between(0, 3_000)),
  ];
  const flow = new BridgeFlow({
    workload: randomWorkload(random, name),
    workspace: place.home.workspace,
    random,
    verdicts: new Verdicts(random),
    call: answeredInTime((tool, args) => {
      const [second] = tool === DECIDE ? atDecision.splice(0) : [];
      if (second !== undefined) cutNext(second);
      return place.bridge.callTool(tool, args);
    }, findings),
  });
  if (!card) await place.bridge.callTool('list_all_active_sessions', {});
  cutNext(cut);
  proxy.onCut = () => findings.count('stalls: stalls');
  const began = performance.now();
  await runCut('stalls', flow, scene, { client: () => place.client(), lookMs: 500 });
  const took = performance.now() - began;
  must(took < LATE_MS, `two stalls delayed a delegation by ${Math.round(took / 1000)} s`);
  for (const words of flow.errors)
    must(WHAT_TO_DO.test(words), `the error does not say what to do: ${words}`);
}

/** Checks that each call returns before a client gives up. */
function answeredInTime(call: CallTool, findings: Findings): CallTool {
  return async (name, args): Promise<ToolResult> => {
    const began = performance.now();
    const late = pause(GIVEN_UP_MS, undefined, { ref: false });
    const result = await Promise.race([call(name, args), late]);
    must(result !== undefined, `${name} got no answer within ${GIVEN_UP_MS / 1000} s`);
    const took = performance.now() - began;
    findings.longest('stalls: seconds that the longest answer took', Math.ceil(took / 1000));
    return result;
  };
}
