/** The steps that a message asks the offline model for, in their order. */

/** A tool call, with its input as the model will request it. */
export interface PlannedCall {
  tool: string;
  input: Record<string, unknown>;
}

export type PlanStep =
  | ({ type: 'call' } & PlannedCall)
  /** Several calls requested in one turn. */
  | { type: 'together'; calls: PlannedCall[] }
  /** Text to say; with `repeat`, that many chunks of it. */
  | { type: 'say'; text: string; repeat?: number };

/** A message, read. A `refused` message does nothing at all. */
export type ParsedMessage = { type: 'steps'; steps: PlanStep[] } | { type: 'refused'; why: string };

/** The calls of a step; a `say` step has none. */
export function callsOfStep(step: PlanStep): PlannedCall[] {
  switch (step.type) {
    case 'call':
      return [step];
    case 'together':
      return step.calls;
    case 'say':
      return [];
  }
}
