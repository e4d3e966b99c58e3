/** Changes the list of agents in the bridge's configuration file, after the person has seen the change. */
import { join } from 'node:path';
import { prepareStateDirectory } from '../../../shared/state/state-directory.ts';
import type { BridgeSettings } from '../../settings/settings.ts';
import { writeConfig } from '../clients/config-file.ts';
import type { ConfigChange } from '../clients/config-text.ts';
import { confirmChange, planBridgeEntryChange, type WriteOptions } from '../clients/plan-entry-change.ts';
import type { CommandRun } from '../context/run-command.ts';
import { EXIT_FAILURE } from '../../../shared/runtime/exit-codes.ts';

const MODE = 0o600;

interface AgentsChange {
  /** What `--json` prints in addition to the path and whether the file was changed. */
  facts: object;
  decide: (text: string) => ConfigChange;
  /** The text that the person sees after the change. */
  after: string;
}

/**
 * Shows the change, and writes the file if the person confirms it. With `--dry-run`, writes nothing.
 * @returns the exit code: EXIT_FAILURE if the person declines, otherwise 0
 * @throws ProductError CONFIGURATION
 */
export async function writeAgents(
  run: Pick<CommandRun<WriteOptions>, 'options' | 'settings' | 'terminal'>,
  { facts, decide, after }: AgentsChange,
): Promise<number> {
  const { settings, terminal } = run;
  await prepareStateDirectory(settings.stateDir);
  const configFile = settings.configFile ?? join(settings.stateDir, 'config.json');
  const change = await planBridgeEntryChange(configFile, 'agents', decide);
  const { path } = change.file;
  if (change.type === 'same') {
    terminal.explain(`${path} is up to date: nothing to change.`);
    terminal.json({ ...facts, path, changed: false });
    return 0;
  }
  const answer = await confirmChange(run, change);
  if (answer !== 'confirmed') {
    terminal.explain('Nothing was written.');
    terminal.json({ ...facts, path, changed: false });
    return answer === 'dry run' ? 0 : EXIT_FAILURE;
  }
  await writeConfig(change.file, change.text, { fresh: MODE });
  terminal.explain(
    `Written to ${path}. ${after} Restart the MCP clients: each bridge reads its settings once.`,
  );
  terminal.json({ ...facts, path, changed: true });
  return 0;
}

/** Returns a note for a person who adds the first agent. Returns undefined if agents are already configured. */
export function firstAgentNote({ agentUrl, agents }: BridgeSettings, name: string): string | undefined {
  return agentUrl === undefined && Object.keys(agents).length === 0
    ? `Delegated tasks now go to "${name}". The server on this machine is used only while no agent is configured; to have both, add its URL too.`
    : undefined;
}
