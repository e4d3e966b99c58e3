/** The command `model set`: tries a model, writes it into the configuration file, and restarts the local server. */
import { join } from 'node:path';
import type { ModelUse } from '../../../shared/runtime/model-report.ts';
import { prepareStateDirectory } from '../../../shared/state/state-directory.ts';
import { restartLocalServer } from '../../local-server/restart-server.ts';
import { readEditableConfig, writeConfig } from '../clients/config-file.ts';
import { decideChange } from '../clients/plan-entry-change.ts';
import { setModelInConfigText } from '../models/edit-model-settings.ts';
import { refuseKeyInModelChange } from '../models/refuse-key-in-settings.ts';
import { readModelChange, type SetModelOptions } from '../models/requested-change.ts';
import { type TriedModel, tryModelChange } from '../models/try-change.ts';
import type { CommandRun } from '../context/run-command.ts';
import { printCheckResult } from '../terminal/print-check-result.ts';

const MODE = 0o600;

/**
 * Sets the model. If an error occurs before the file is written, nothing changes. No file ever contains the key, not
 * even a temporary file.
 * @throws ProductError CONFIGURATION if the settings are not valid or the trial fails; UsageError
 */
export async function setModelCommand(run: CommandRun<SetModelOptions>, id: string): Promise<void> {
  const { settings, terminal } = run;
  const change = await readModelChange(run, id);
  await refuseKeyInModelChange(change, run.env);
  await prepareStateDirectory(settings.stateDir);
  const file = await readEditableConfig(settings.configFile ?? join(settings.stateDir, 'config.json'));
  const text = decideChange(file, (before) => setModelInConfigText(before, change));
  const trial = await tryModelChange(run, change, { path: file.path, text });
  if (text !== file.text) await writeConfig(file, text, { fresh: MODE, backUp: false });
  const restart = await applyToLocalServer(run, trial);
  const { use, finding, missingVariable } = trial;
  const server = restart.type === 'restarted' ? restart.server : null;
  terminal.json({
    model: id,
    use: use.use,
    file: file.path,
    key: use.key,
    finding,
    missingVariable,
    server,
  });
  if (finding !== undefined) printCheckResult(terminal, finding);
  terminal.explain(`${file.path} names ${id} as the ${change.tier ?? 'default'} model.`);
  terminal.explain(restart.text);
  const advice = keyAdvice(id, use);
  if (advice !== undefined) terminal.explain(advice);
  if (settings.agentUrl !== undefined || Object.keys(settings.agents).length > 0)
    terminal.explain(
      'The settings of the bridge name other agents. They have models of their own; this one is for the local server.',
    );
}

type AppliedChange =
  | { type: 'restarted'; server: { url: string; pid: number }; text: string }
  | { type: 'later'; text: string };

/**
 * Restarts the local server if it runs. If the key's variable is not set in this terminal, the server keeps running,
 * because a new server would have no key.
 */
async function applyToLocalServer(
  { settings, places }: CommandRun<SetModelOptions>,
  { missingVariable }: TriedModel,
): Promise<AppliedChange> {
  if (missingVariable !== null)
    return {
      type: 'later',
      text: `${missingVariable} is not set here, so a running server was not restarted. To apply the change, run: mcp-a2a-bridge server stop. Your MCP client starts the next server.`,
    };
  if (!settings.autoStart)
    return {
      type: 'later',
      text: 'The bridge may not start a server (--no-auto-start), so restart it yourself. Its tasks go on.',
    };
  const restarted = await restartLocalServer({ ...settings, script: places.serverScript });
  if (restarted === undefined)
    return { type: 'later', text: 'No server runs. The next task starts one with this model.' };
  const { before, after } = restarted;
  return {
    type: 'restarted',
    server: { url: after.url, pid: after.pid },
    text: `The local server was restarted: process ${String(before.pid)} ended, process ${String(after.pid)} runs at ${after.url}. Its tasks go on with this model.`,
  };
}

/**
 * Explains how a server gets the key if an MCP client starts that server. The client might not have this terminal's
 * variables.
 */
function keyAdvice(id: string, { key }: ModelUse): string | undefined {
  if (key.type !== 'variable' || (!key.set && !key.needed)) return undefined;
  return `The key is in ${key.name}. A server that your MCP client starts needs this variable too. If the client lacks it, name a command that prints the key: mcp-a2a-bridge model set ${id} --key-command "<command>"`;
}
