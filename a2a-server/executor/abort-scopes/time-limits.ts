/**
 * The time limits of the server. A1: an operation that reaches its limit stops with the named reason `timeout`. Null
 * means no limit. A tool also has its own limit, which may depend on its input.
 */
export interface TimeLimits {
  toolMs: number | null;
  /**
   * One model call, from the request to the end of the answer. At this limit, an unfinished turn fails the task. An
   * unfinished summary is replaced.
   */
  modelMs: number | null;
  /**
   * One turn: the model's answer and its tool calls. At this limit, the running tools stop. If the model is still
   * answering, the task fails.
   */
  turnMs: number | null;
  /** The working time of one task over all its turns. At this limit, the task fails. */
  taskMs: number | null;
}

/** Formats a limit in its largest whole unit, e.g. `90 s` or `2 min`. */
export function wholeUnitDurationText(ms: number): string {
  const units: [number, string][] = [
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1_000, 's'],
  ];
  const [unit, name] = units.find(([size]) => ms % size === 0) ?? [1, 'ms'];
  return `${ms / unit} ${name}`;
}
