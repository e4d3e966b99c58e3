/** What runs the turns of a task: a language model, a script, or a program that speaks the Agent Client Protocol. */
export type AgentChoice =
  { type: 'model' } | { type: 'scripted'; file: string } | { type: 'acp'; command: string; args: string[] };
