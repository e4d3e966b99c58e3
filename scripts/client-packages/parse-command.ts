/** Reads a command from Markdown with front matter, as Claude Code has it. Pure. */

export interface ClaudeCommand {
  name: string;
  description: string;
  prompt: string;
}

/** @throws Error if the text has no front matter with a description */
export function parseCommand(name: string, markdown: string): ClaudeCommand {
  const [, description, prompt] = /^---\ndescription: (.+)\n---\n+([^]+)$/.exec(markdown) ?? [];
  if (description === undefined || prompt === undefined)
    throw new Error(`The command "${name}" does not begin with its description.`);
  return { name, description, prompt: prompt.trimEnd() };
}
