/** `init`: asks the model for an AGENTS.md of the workspace. */
import type { AgentCommand } from './agent-command.ts';

export const init: AgentCommand = {
  name: 'init',
  description: 'Asks the model to propose a short AGENTS.md for the workspace. Writing it needs approval.',
  arguments: [],
  prompt: `Write a short AGENTS.md for this workspace, for coding agents that start to work here.

Read what the workspace says about itself first: the README, the package or build files, the directories. Run nothing.
Write only what you found: what the project is, the commands that build, test and lint it, the layout of the directories, and conventions that the files state.
Where an AGENTS.md exists, keep what is still true, and edit it instead of replacing it.`,
};
