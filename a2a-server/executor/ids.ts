/** Creates ids. It is an interface so that tests can predict them. */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../shared/runtime/clock.ts';

export interface Ids {
  task(): string;
  session(): string;
  call(): string;
  /** E.g. `run-shell-command-1623456789-abc123def`: tool, seconds since the epoch, random characters. */
  toolExecution(tool: string): string;
}

function chance(length: number): string {
  return randomUUID().replaceAll('-', '').slice(0, length);
}

export function randomIds(clock: Clock): Ids {
  return {
    task: () => `task-${randomUUID()}`,
    session: () => `session-${randomUUID()}`,
    call: () => `call-${chance(12)}`,
    toolExecution: (tool) => `${tool}-${Math.floor(clock.now() / 1000)}-${chance(9)}`,
  };
}
