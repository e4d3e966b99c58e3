/** Changes the list of agents in the bridge's configuration file, after the person has seen the change. */
import { join } from 'node:path';
import { prepareStateDirectory } from '../../../shared/state/state-directory.ts';
import { visibleText } from '../../../shared/text/visible-text.ts';
import type { BridgeSettings } from '../../settings/settings.ts';
import { writeConfig } from '../clients/config-file.ts';
import type { ConfigChange } from '../clients/config-text.ts';
import { planBridgeEntryChange } from '../clients/plan-entry-change.ts';
import type { CommandRun, CommonCommandOptions } from '../context/run-command.ts';
import { EXIT_FAILURE } from '../../../shared/runtime/exit-codes.ts';
import { paintDiff } from '../terminal/paint.ts';

const MODE = 0o600;

export interface WriteOptions extends CommonCommandOptions {
  dryRun?: boolean;
  yes?: boolean;
}

interface AgentsChange {
  /** What `--json` prints in addition to the path and whether the file was changed. */
  facts: object;
  decide: (text: string) => ConfigChange;
  /** The text that the person sees after the change. */
  after: string;
}

/**
 * Shows the change, and writes the file. In an interactive terminal, first asks the person to confirm, unless `--yes`
 * or `--json` is given. With `--dry-run`, asks nothing and writes nothing.
 * @returns the exit code: EXIT_FAILURE if the person declines, otherwise 0
 * @throws ProductError CONFIGURATION
 */
export async function writeAgents(
  { options, settings, terminal }: CommandRun<WriteOptions>,
  { facts, decide, after }: AgentsChange,
): Promise<number> {
  const json = options.json === true;
  const report = (path: string, changed: boolean): void => {
    if (json) terminal.say(JSON.stringify({ ...facts, path, changed }));
  };
  const say = (text: string): void => {
    if (!json) terminal.say(text);
  };
  await prepareStateDirectory(settings.stateDir);
  const path = settings.configFile ?? join(settings.stateDir, 'config.json');
  const change = await planBridgeEntryChange(path, 'agents', decide);
  if (change.type === 'same') {
    say(`${change.file.path} is up to date: nothing to change.`);
    report(change.file.path, false);
    return 0;
  }
  say(paintDiff(visibleText(change.diff), terminal.paint));
  const asks = terminal.interactive && options.yes !== true && !json;
  if (options.dryRun === true || (asks && !(await terminal.confirm(`Write this to ${change.file.path}?`)))) {
    say('Nothing was written.');
    report(change.file.path, false);
    return options.dryRun === true ? 0 : EXIT_FAILURE;
  }
  await writeConfig(change.file, change.text, MODE);
  say(
    `Written to ${change.file.path}. ${after} Restart the MCP clients: each bridge reads its settings once.`,
  );
  report(change.file.path, true);
  return 0;
}

/** Returns a note for a person who adds the first agent. Returns undefined if agents are already configured. */
export function firstAgentNote({ agentUrl, agents }: BridgeSettings, name: string): string | undefined {
  return agentUrl === undefined && Object.keys(agents).length === 0
    ? `Delegated tasks now go to "${name}". The server on this machine is used only while no agent is configured; to have both, add its URL too.`
    : undefined;
}
