/** Defines the steps that a message can request from the offline model. */

/** A tool call with the input that the model will request. */
export interface PlannedCall {
  tool: string;
  input: Record<string, unknown>;
}

export type PlanStep =
  | ({ type: 'call' } & PlannedCall)
  /** Several calls requested in one turn. */
  | { type: 'together'; calls: PlannedCall[] }
  /** Text to stream. `repeat` is the number of chunks of this text. */
  | { type: 'say'; text: string; repeat?: number };

/** The result of reading a message. A `refused` message has no effect. */
export type ParsedMessage = { type: 'steps'; steps: PlanStep[] } | { type: 'refused'; why: string };

/** Returns the calls of a step. A `say` step has no calls. */
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
