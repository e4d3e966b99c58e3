/** Writes a JSON plan for the offline model (docs/offline-model.md). */

export interface PlannedCall {
  tool: string;
  input: Record<string, unknown>;
}

export type PlannedStep = PlannedCall | { together: PlannedCall[] } | { say: string; repeat?: number };

export function plan(...steps: PlannedStep[]): string {
  return JSON.stringify({ plan: steps });
}

export const write = (path: string, content: string): PlannedCall => ({
  tool: 'write-file',
  input: { path, content },
});

export const append = (path: string, content: string): PlannedCall => ({
  tool: 'append-file',
  input: { path, content },
});

export const askPerson = (question: string, choices: readonly string[]): PlannedCall => ({
  tool: 'ask-person',
  input: { question, choices: choices.map((label) => ({ label })) },
});

export const shell = (command: string): PlannedCall => ({ tool: 'run-shell-command', input: { command } });

export const wait = (seconds: number): PlannedCall => ({ tool: 'wait', input: { seconds } });
