/** The states of an A2A task that has not ended (A2A 1.0 §4.1.3), in lower case. */
export const NON_TERMINAL_TASK_STATES = ['submitted', 'working', 'input-required', 'auth-required'] as const;
export type NonTerminalTaskState = (typeof NON_TERMINAL_TASK_STATES)[number];

/** The states of an A2A task that has ended. */
export const TERMINAL_TASK_STATES = ['completed', 'failed', 'canceled', 'rejected'] as const;

export const TASK_STATES = [...NON_TERMINAL_TASK_STATES, ...TERMINAL_TASK_STATES] as const;

export function isNonTerminal(state: string): state is NonTerminalTaskState {
  return NON_TERMINAL_TASK_STATES.some((each) => each === state);
}
