/** Measures the time from the start of the server's process until a client has its agent card. */
import { startAgent } from './agent.ts';
import type { Benchmark } from './benchmark.ts';
import { ownProgram, startProgram } from './child-program.ts';
import { median, medianOf } from './statistics.ts';

const ROUNDS = 15;
const AIM_MS = 400;
const RATIO_AIM = 3;

export const start: Benchmark = {
  id: 'start',
  title: 'start → agent card, against an empty Node program',
  async run(context) {
    const cards: number[] = [];
    const empties: number[] = [];
    // The first round does not count, because it reads the files from the disk.
    for (let round = 0; round <= ROUNDS; round += 1) {
      const empty = await startProgram({ script: ownProgram('empty') });
      await empty.stop();
      const began = performance.now();
      const agent = await startAgent(context);
      const answer = await fetch(`${agent.url}/.well-known/agent-card.json`);
      await answer.json();
      const took = performance.now() - began;
      await agent.program.stop();
      if (round === 0) continue;
      cards.push(took);
      empties.push(empty.startedInMs);
    }
    return [
      {
        name: 'start → agent card, median',
        ...medianOf(cards),
        unit: 'ms',
        aim: { at: 'most', value: AIM_MS },
      },
      { name: 'start of an empty program, median', ...medianOf(empties), unit: 'ms' },
      {
        name: 'start → agent card, to an empty program, medians',
        value: median(cards) / median(empties),
        unit: 'ratio',
        aim: { at: 'most', value: RATIO_AIM },
      },
    ];
  },
};
