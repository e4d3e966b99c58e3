/** What the offline model was asked to do: a list of steps, in the order they were written. */

/** A call of a tool, with the input as it will be asked for. */
export interface PlannedCall {
  tool: string;
  input: Record<string, unknown>;
}

export type Step =
  | ({ type: 'call' } & PlannedCall)
  /** Several calls asked for in one turn. */
  | { type: 'together'; calls: PlannedCall[] }
  /** Text to say; with `repeat`, that many chunks of it. */
  | { type: 'say'; text: string; repeat?: number };

/** A part of the text that is no step of the language, and why. Nothing is done for it. */
export interface Misread {
  text: string;
  why: string;
}

/** What was understood of one message, and what was not. */
export interface Reading {
  steps: Step[];
  misread: Misread[];
}

/** The calls of a step: none for something to say. */
export function callsOf(step: Step): PlannedCall[] {
  switch (step.type) {
    case 'call':
      return [step];
    case 'together':
      return step.calls;
    case 'say':
      return [];
  }
}
