/** The results of a run: the number of times that each fault was tried, and the failed checks. */

interface Finding {
  part: string;
  round: number;
  what: string;
}

/** Thrown if a guarantee is broken. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

/**
 * Checks a guarantee.
 * @throws Violation
 */
export function must(holds: boolean, what: string | (() => string)): asserts holds {
  if (!holds) throw new Violation(typeof what === 'string' ? what : what());
}

export class Findings {
  readonly counts = new Map<string, number>();
  readonly violations: Finding[] = [];
  readonly seed: number;
  readonly #say: (line: string) => void;

  constructor(seed: number, say: (line: string) => void) {
    this.seed = seed;
    this.#say = say;
  }

  say(line: string): void {
    this.#say(line);
  }

  count(what: string, times = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + times);
  }

  /** Keeps the largest of the values with this name. */
  longest(what: string, figure: number): void {
    this.counts.set(what, Math.max(this.counted(what), figure));
  }

  counted(what: string): number {
    return this.counts.get(what) ?? 0;
  }

  /** Records a failed check. */
  noted(finding: Finding): void {
    this.violations.push(finding);
  }

  violation(finding: Finding): void {
    this.noted(finding);
    this.#say(`VIOLATION in ${finding.part}, round ${finding.round}: ${finding.what}`);
    this.#say(`  again: ${this.again(finding)}`);
  }

  again({ part, round }: Pick<Finding, 'part' | 'round'>): string {
    return `npm run faults -- --seed ${this.seed} --only ${part} --from ${round} --rounds 1`;
  }

  /** Runs one round, and records a failed check instead of throwing. So the next round can follow. */
  async round(part: string, round: number, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const what = error instanceof Violation ? error.message : `the round broke off: ${textOf(error)}`;
      this.violation({ part, round, what });
    }
    this.count(`${part}: rounds`);
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
