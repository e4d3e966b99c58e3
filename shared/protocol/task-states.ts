/** The terminal states of an A2A task (A2A 1.0 §4.1.3), in lower case. */
export const TERMINAL_TASK_STATES = ['completed', 'failed', 'canceled', 'rejected'] as const;

/** The states of an A2A task, in lower case. */
export const TASK_STATES = [
  'submitted',
  'working',
  'input-required',
  'auth-required',
  ...TERMINAL_TASK_STATES,
] as const;
