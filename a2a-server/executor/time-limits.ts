/**
 * How long things may take before they are stopped with the reason `timeout` (A1), in milliseconds; null for as long as it
 * takes. A tool has a limit of its own besides, which its input may set.
 */
export interface TimeLimits {
  /** One tool execution. */
  toolMs: number | null;
  /** One call of the model, from the question to the end of its answer: the task fails. */
  modelMs: number | null;
  /** One turn at work, the model's answer and the tools it asked for: what still runs is stopped. */
  turnMs: number | null;
  /** One task at work, over all of its turns: the task fails. */
  taskMs: number | null;
}

export const NO_TIME_LIMITS: TimeLimits = { toolMs: null, modelMs: null, turnMs: null, taskMs: null };

/** A limit as a person set it: in its largest whole unit. */
export function written(ms: number): string {
  const units: [number, string][] = [
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1_000, 's'],
  ];
  const [unit, name] = units.find(([size]) => ms % size === 0) ?? [1, 'ms'];
  return `${ms / unit} ${name}`;
}
