export interface OfflinePlanCall {
  tool: string;
  input: Record<string, unknown>;
}

export type OfflinePlanStep =
  | ({ type: 'call' } & OfflinePlanCall)
  | { type: 'together'; calls: OfflinePlanCall[] }
  /** Text to stream. With `repeat`, `text` is sent that many times. */
  | { type: 'say'; text: string; repeat?: number };

/** The result of parsing a message. A `refused` message has no effect. */
export type ParsedOfflinePlan =
  /** `form` is present if the message has one of the forms of docs/offline-model.md. It is absent for a JSON plan. */
  { type: 'steps'; steps: OfflinePlanStep[]; form?: true } | { type: 'refused'; why: string };

export function plannedCallsOfStep(step: OfflinePlanStep): OfflinePlanCall[] {
  switch (step.type) {
    case 'call':
      return [step];
    case 'together':
      return step.calls;
    case 'say':
      return [];
  }
}
