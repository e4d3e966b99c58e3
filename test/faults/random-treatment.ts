/** Chooses what a proxy does with a connection between a client and a server. */
import { KINDS } from './every-byte.ts';
import type { Findings } from './findings.ts';
import type { Random } from './random.ts';
import type { Treatment } from './tcp-proxy.ts';

interface TreatmentOptions {
  /** The name in the report. */
  part: string;
  random: Random;
  findings: Findings;
  /** Returns the port of the server that gets a copy of a doubled connection. */
  copyTo: () => number;
}

export function randomTreatment({ part, random, findings, copyTo }: TreatmentOptions): Treatment {
  const doubled = random.chance(0.15);
  if (doubled) findings.count(`${part}: connections doubled`);
  const slow = random.chance(0.2);
  if (slow) findings.count(`${part}: connections delayed or throttled`);
  const direction = random.chance(0.4) ? 'up' : 'down';
  return {
    ...(doubled && { copyTo: copyTo() }),
    ...(slow && { delayMs: random.between(0, 3), piece: random.between(200, 2_000) }),
    ...(random.chance(0.7) && {
      cut: {
        direction,
        after: random.chance(0.5) ? random.between(0, 1_000) : random.between(0, 20_000),
        how: random.pick(KINDS),
      },
    }),
  };
}
