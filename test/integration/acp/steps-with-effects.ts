/** Tool calls of the agent that leave a trace of how often they were done. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ToolCallStep } from '../../support/acp-agent/step.ts';
import type { Home } from './acp-service.ts';

/** A command whose effect is a line with its id in `effects.txt`. */
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

/** The effects there were, in order. */
export function effects({ workspace }: Home): Promise<string> {
  return readFile(join(workspace, 'effects.txt'), 'utf8').catch(() => '');
}
