/** Agent tool calls with a visible effect, so that a test can count how often each call ran. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ToolCallStep } from '../../support/acp-agent/step.ts';
import type { Home } from './acp-service.ts';

/** Returns a step with a command that writes its id as a line to `effects.txt`. */
export function command(id: string, more: Partial<ToolCallStep> = {}): ToolCallStep {
  return {
    id,
    kind: 'execute',
    title: `Run make ${id}`,
    rawInput: { command: `make ${id}` },
    effect: id,
    ...more,
  };
}

/** Returns the effects so far, in order. */
export function effects({ workspace }: Home): Promise<string> {
  return readFile(join(workspace, 'effects.txt'), 'utf8').catch(() => '');
}
