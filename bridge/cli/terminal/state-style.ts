/** The colour of a state. Pure. */
import type { TaskStateName } from '../../dialects/observation.ts';
import type { Style } from './paint.ts';

const STYLES: Readonly<Record<TaskStateName, Style>> = {
  submitted: 'cyan',
  working: 'cyan',
  'input-required': 'yellow',
  'auth-required': 'yellow',
  completed: 'green',
  canceled: 'gray',
  failed: 'red',
  rejected: 'red',
  unknown: 'gray',
};

export const styleOf = (state: TaskStateName): Style => STYLES[state];
