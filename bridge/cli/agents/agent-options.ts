/** Reads the options of a command that describe an agent. Pure. */
import { type AgentSettings, agentSettingsSchema } from '../../settings/settings.ts';
import { inputProblem, zodIssuesText } from '../../../shared/text/input-problem.ts';
import { splitCommandLine } from '../models/edit-model-settings.ts';
import { UsageError } from '../terminal/exit-codes.ts';
import type { AgentEntry } from './agent-entry.ts';

export interface AgentOptions {
  url: string;
  cardUrl?: string | undefined;
  tokenVariable?: string | undefined;
  tokenCommand?: string | undefined;
}

/**
 * Returns the agent's entry for the configuration file, and the settings with all defaults.
 * @param use what the command does with an agent, for error messages
 * @throws UsageError
 */
export function readAgentOptions(
  { url, cardUrl, tokenVariable, tokenCommand }: AgentOptions,
  use: 'added' | 'tested',
): { entry: AgentEntry; settings: AgentSettings } {
  if (tokenVariable !== undefined && tokenCommand !== undefined)
    throw new UsageError('Name a variable or a command for the token, not both.');
  const entry = {
    url,
    ...(cardUrl !== undefined && { cardUrl }),
    ...(tokenVariable !== undefined && { tokenEnv: tokenVariable }),
    ...(tokenCommand !== undefined && { tokenCommand: splitCommandLine(tokenCommand, '--token-command') }),
  };
  const { data: settings, error } = agentSettingsSchema.safeParse(entry, { error: inputProblem });
  if (settings !== undefined) return { entry, settings };
  throw new UsageError(`This agent cannot be ${use}: ${zodIssuesText(error)}.`);
}
