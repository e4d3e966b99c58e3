/**
 * R29: measures the growth after a thousand turns: of the server over one kept connection, and of the bridge over
 * stdio.
 */
import { join } from 'node:path';
import { soakBridge } from '../soak/bridge-soak.ts';
import { soakServer } from '../soak/server-soak.ts';
import type { Soaked } from '../soak/soak.ts';
import type { Benchmark, Figure } from './benchmark.ts';

/** The numbers of rounds. A round of the server has 7 turns, and a round of the bridge has 10. */
const SERVER = { warmUp: 14, window: 10, between: 55 };
const BRIDGE = { warmUp: 20, window: 5, between: 35 };

const HEAP_AIM_MB = 1;

export const soakTurns: Benchmark = {
  id: 'soak',
  title: 'a thousand turns: what is there at their end and was not at their beginning',
  async run({ dist, note }) {
    const server = await soakServer(SERVER, join(dist, 'a2a-server', 'main.js'));
    note(`soak: ${server.turns} turns of the server`);
    const bridge = await soakBridge(BRIDGE, dist);
    note(`soak: ${bridge.turns} calls of the bridge`);
    return [...figures('server', server), ...figures('bridge', bridge)];
  },
};

function figures(whose: string, { growth, between, log }: Soaked & { log: string }): Figure[] {
  const count = (what: string, value: number): Figure => ({
    name: `${whose}: ${what}`,
    value,
    unit: 'count',
    aim: { at: 'most', value: 0 },
  });
  return [
    { name: `${whose}: turns between the two looks`, value: between.turns, unit: 'count' },
    {
      name: `${whose}: heap in use`,
      value: growth.heapBytes / 2 ** 20,
      unit: 'MB',
      aim: { at: 'most', value: HEAP_AIM_MB },
    },
    count('functions', growth.functions),
    count('promises', growth.promises),
    count('listeners of events', growth.listeners),
    count('listeners of abort signals', growth.abortListeners),
    count('timers', growth.timers),
    count('active handles', growth.handles),
    count('file descriptors', growth.descriptors),
    count('warnings printed', log.split('Warning').length - 1),
  ];
}
