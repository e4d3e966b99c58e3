import type { SessionStateName } from '../../dialects/observation.ts';
import type { TerminalStyle } from './paint.ts';

const STYLES: Readonly<Record<SessionStateName, TerminalStyle>> = {
  submitted: 'cyan',
  working: 'cyan',
  'input-required': 'yellow',
  'auth-required': 'yellow',
  completed: 'green',
  canceled: 'gray',
  failed: 'red',
  rejected: 'red',
  unknown: 'gray',
  'not-delivered': 'red',
  'unknown-to-agent': 'red',
};

export const styleOfState = (state: SessionStateName): TerminalStyle => STYLES[state];
