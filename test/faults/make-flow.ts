/** Makes flows with random verdicts. */
import { A2aFlow } from './a2a-flow.ts';
import { BridgeFlow } from './bridge-flow.ts';
import type { BridgeProcess } from './bridge-process.ts';
import type { Random } from './random.ts';
import { Verdicts } from './verdicts.ts';
import type { Workload } from './workload.ts';

interface FlowPlace {
  workspace: string;
  bridge: BridgeProcess;
}

/** Makes a delegation by a person with an MCP client. */
export function makeBridgeFlow(
  { workspace, bridge }: FlowPlace,
  random: Random,
  workload: Workload,
): BridgeFlow {
  const verdicts = new Verdicts(random);
  return new BridgeFlow({
    workload,
    workspace,
    random,
    verdicts,
    call: (name, args) => bridge.callTool(name, args),
  });
}

/** Makes a delegation over the bridge, or by an A2A client. */
export function makeFlow(
  overBridge: boolean,
  place: FlowPlace,
  random: Random,
  workload: Workload,
): BridgeFlow | A2aFlow {
  if (overBridge) return makeBridgeFlow(place, random, workload);
  return new A2aFlow({ workload, workspace: place.workspace, random, verdicts: new Verdicts(random) });
}
