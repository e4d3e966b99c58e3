import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { fileProblem } from '../../../shared/runtime/file-problem.ts';
import { inputProblem, zodIssuesText } from '../../../shared/text/input-problem.ts';
import { openReadonlyJournal } from '../../journal/sqlite/readonly-journal.ts';
import type { ServerSettings } from '../settings/settings.ts';
import { serverPolicy } from '../settings/server-policy.ts';
import { createAgentBackend } from '../agent-backend.ts';
import type { CommandOutput } from './command-output.ts';
import { builtinTools } from '../../tools/builtin/builtin-tools.ts';
import type { Tool } from '../../tools/tool.ts';
import { openWorkspace } from '../../tools/workspace/workspace.ts';
import {
  dryRunPolicy,
  type PolicyDryRunInput,
  type PolicyDryRunCall,
  policyDryRunCallText,
  isVerdictChanged,
  summarizePolicyDryRun,
  policyDryRunSummaryText,
} from '../../policy/policy-dry-run.ts';
import { workspaceByText } from '../../policy/resolve-targets.ts';
import { rulesSchema, type Rule } from '../../policy/rule.ts';

export interface PolicyDryRunOptions {
  /** A file with rules. They replace the rules of the settings. */
  rules?: string | undefined;
  changed?: boolean | undefined;
  json?: boolean | undefined;
}

/**
 * `a2a-server policy try` shows the verdicts of new rules on the tool calls in the journal.
 * @throws ProductError CONFIGURATION if a rule is invalid or the journal is missing
 */
export async function printPolicyDryRun(
  settings: ServerSettings,
  { rules: file, changed = false, json = false }: PolicyDryRunOptions,
  { say, sayJson }: CommandOutput,
): Promise<void> {
  const tools = await knownTools(settings);
  const written = file === undefined ? settings.policy : await rulesIn(file);
  const policy = serverPolicy({ ...settings, policy: written }, tools);
  const journal = await openPastTasks(settings);
  const all: PolicyDryRunCall[] = [];
  try {
    for (const taskId of await journal.taskIds()) {
      const entries = await journal.entries(taskId);
      const past: PolicyDryRunInput = {
        taskId,
        entries,
        policy,
        tool: (name) => tools.find((it) => it.name === name),
        workspace,
      };
      const tried = await dryRunPolicy(past);
      all.push(...tried);
      if (!json)
        for (const call of tried) if (!changed || isVerdictChanged(call)) say(policyDryRunCallText(call));
    }
  } finally {
    journal.close();
  }
  const summary = summarizePolicyDryRun(all);
  const calls = changed ? all.filter(isVerdictChanged) : all;
  if (json) sayJson({ calls, summary });
  else say(policyDryRunSummaryText(summary));
}

async function openPastTasks({ database, stateDir }: ServerSettings) {
  if (database === undefined) return openReadonlyJournal(join(stateDir, 'journal.db'));
  const { openReadonlyPostgresJournal } = await import('../../journal/postgres/readonly-journal.ts');
  return openReadonlyPostgresJournal(database);
}

/** Opens a task's workspace. If the directory no longer exists, the rules check only the text of the paths. */
const workspace: PolicyDryRunInput['workspace'] = async (root = '/') =>
  openWorkspace(root).catch(() => workspaceByText(root));

/** Returns the tools that rules and past tool calls may name. The agent's tools come first. */
async function knownTools(settings: ServerSettings): Promise<readonly Tool[]> {
  if (settings.agent.type !== 'acp') return builtinTools();
  const { tools = [] } = await createAgentBackend(settings);
  return [...tools, ...builtinTools()];
}

async function rulesIn(file: string): Promise<Rule[]> {
  let json: unknown;
  try {
    json = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    throw unusableRulesError(file, fileProblem(error));
  }
  const parsed = rulesSchema.safeParse(json, { error: inputProblem });
  if (parsed.success) return parsed.data;
  throw unusableRulesError(
    file,
    `${zodIssuesText(parsed.error)}; the file must contain a list of rules, like the setting "policy"`,
  );
}

function unusableRulesError(file: string, problem: string): ProductError {
  return new ProductError('CONFIGURATION', `The rules in ${file} cannot be used: ${problem}.`, {
    facts: { origin: file },
  });
}
