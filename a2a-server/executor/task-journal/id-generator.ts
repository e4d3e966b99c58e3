import { randomUUID } from 'node:crypto';
import type { Clock } from '../../../shared/runtime/clock.ts';

export interface IdGenerator {
  task(): string;
  session(): string;
  call(): string;
  /**
   * Returns an id like `run-shell-command-1623456789-abc123def`. It contains the tool, the seconds since 1970 and
   * random characters.
   */
  toolExecution(tool: string): string;
}

function randomCharacters(length: number): string {
  return randomUUID().replaceAll('-', '').slice(0, length);
}

export function createIdGenerator(clock: Clock): IdGenerator {
  return {
    task: () => `task-${randomUUID()}`,
    session: () => `session-${randomUUID()}`,
    call: () => `call-${randomCharacters(12)}`,
    toolExecution: (tool) => `${tool}-${Math.floor(clock.now() / 1000)}-${randomCharacters(9)}`,
  };
}
