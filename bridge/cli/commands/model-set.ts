/** `model set`: tries a model, writes it into the configuration file, and restarts the local server. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CheckResult } from '../../../shared/runtime/check-result.ts';
import { messageOf, ProductError } from '../../../shared/runtime/errors.ts';
import type { ModelUse } from '../../../shared/runtime/model-report.ts';
import { prepareStateDirectory } from '../../../shared/state/state-directory.ts';
import { nearestNames } from '../../../shared/text/nearest-names.ts';
import { visibleText } from '../../../shared/text/visible-text.ts';
import { restartServer } from '../../local-server/restart-server.ts';
import { readConfig, replaceConfig, unusableConfigError } from '../clients/config-file.ts';
import { checkServerStart } from '../doctor/check-server-start.ts';
import { commandWords, type ModelChange, TIERS, withModel } from '../models/model-change.ts';
import { serverModels } from '../models/server-models.ts';
import { UsageError } from '../terminal/exit-codes.ts';
import type { CommonOptions, CommandRun } from '../context/run-command.ts';

interface SetOptions extends CommonOptions {
  tier?: string;
  keyCommand?: string;
  keyVariable?: string;
  baseUrl?: string;
  /** False for --no-try. */
  try?: boolean;
}

/** Only the user may read the file. */
const MODE = 0o600;

/**
 * A failure before the file is written changes nothing.
 * @throws ProductError CONFIGURATION if the settings or the trial fail; UsageError
 */
export async function setModel(run: CommandRun<SetOptions>, id: string): Promise<void> {
  const { options, settings, terminal } = run;
  const change = await changeOf(run, id);
  await prepareStateDirectory(settings.stateDir);
  const file = await readConfig(settings.configFile ?? join(settings.stateDir, 'config.json'));
  const text = changed(file, change);
  const trial = await withCandidate(run, { path: file.path, text }, (candidate) =>
    tried(run, change, candidate),
  );
  if (text !== file.text) await replaceConfig(file, text, { fresh: MODE, backUp: false });
  const restart = await applied(run, trial);
  if (options.json === true) {
    const { use, finding, missingVariable } = trial;
    const server = restart.type === 'restarted' ? restart.server : null;
    terminal.say(
      JSON.stringify({
        model: id,
        use: use.use,
        file: file.path,
        key: use.key,
        finding,
        missingVariable,
        server,
      }),
    );
    return;
  }
  if (trial.finding !== undefined) tellFinding(run, trial.finding);
  terminal.say(`${file.path} names ${id} as the ${change.tier ?? 'default'} model.`);
  terminal.say(restart.text);
  const advice = keyAdvice(id, trial.use);
  if (advice !== undefined) terminal.say(advice);
  if (settings.agentUrl !== undefined || Object.keys(settings.agents).length > 0)
    terminal.say(
      'The settings of the bridge name other agents. They have models of their own; this one is for the local server.',
    );
}

/** @throws UsageError */
async function changeOf(
  { options, settings, places }: CommandRun<SetOptions>,
  id: string,
): Promise<ModelChange> {
  const { tier, keyCommand, keyVariable, baseUrl } = options;
  const named = TIERS.find((each) => each === tier);
  if (tier !== undefined && named === undefined)
    throw new UsageError(`There is no tier "${tier}". The tiers are: ${TIERS.join(', ')}.`);
  if (keyCommand !== undefined && keyVariable !== undefined)
    throw new UsageError('Use --key-command or --key-variable, not both.');
  if (id === 'offline' && (keyCommand ?? keyVariable ?? baseUrl) !== undefined)
    throw new UsageError('The offline model has no key and no URL.');
  if (id !== 'offline' && !/^[a-z-]+:\S+$/.test(id)) {
    const { known, local } = await serverModels(settings, places.serverScript);
    const served = local.flatMap(({ provider, models }) => models.map((model) => `${provider}:${model}`));
    const ids = [...served, ...known.map((each) => each.id)];
    const containing = ids.filter((each) => each.includes(id.toLowerCase())).slice(0, 3);
    const names = containing.length > 0 ? [] : nearestNames(id, ids.map(nameOf));
    const similar = [...containing, ...names.flatMap((name) => ids.filter((each) => nameOf(each) === name))];
    throw new UsageError(
      `A model is "offline" or <provider>:<model>. ${similar.length === 0 ? '"mcp-a2a-bridge model list" lists models.' : `Did you mean ${similar.join(' or ')}?`}`,
    );
  }
  const key =
    keyCommand === undefined
      ? keyVariable === undefined
        ? undefined
        : { env: keyVariable }
      : { command: commandWords(keyCommand) };
  return { id, tier: named, key, baseUrl };
}

/** The name of a model without its provider. */
function nameOf(id: string): string {
  return id.slice(id.indexOf(':') + 1);
}

/** @throws ProductError CONFIGURATION if the file is not JSON */
function changed({ path, text }: { path: string; text: string }, change: ModelChange): string {
  try {
    return withModel(text, change);
  } catch (error) {
    throw unusableConfigError(path, `${messageOf(error)}. Put it right, then run this again`, error);
  }
}

/** Runs the work with a file of the new settings. The messages of errors name the real file. */
async function withCandidate<Result>(
  { settings: { stateDir } }: CommandRun<SetOptions>,
  { path, text }: { path: string; text: string },
  work: (candidate: string) => Promise<Result>,
): Promise<Result> {
  // The settings may contain tokens, so they stay in the state directory.
  const directory = await mkdtemp(join(stateDir, 'candidate-'));
  const candidate = join(directory, 'config.json');
  try {
    await writeFile(candidate, text, { mode: MODE });
    return await work(candidate);
  } catch (error) {
    if (!(error instanceof ProductError)) throw error;
    const { reason, facts, message } = error;
    throw new ProductError(reason, message.replaceAll(candidate, path), { facts, cause: error });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

interface Succeeded {
  use: ModelUse;
  /** The result of the trial; undefined if the server could not be checked. */
  finding: CheckResult | undefined;
  /** The variable that the server needs, and that this terminal lacks. Null if it lacks none. */
  missingVariable: string | null;
}

/** @throws ProductError CONFIGURATION if a server with these settings does not start, or its model does not answer */
async function tried(
  { options, settings: { stateDir }, places }: CommandRun<SetOptions>,
  { id, tier }: ModelChange,
  configFile: string,
): Promise<Succeeded> {
  const at = { stateDir, configFile };
  const report = await serverModels(at, places.serverScript);
  const use = report.uses.find((each) => each.use === (tier ?? 'default'));
  if (use === undefined || use.id !== id)
    throw new ProductError(
      'CONFIGURATION',
      `Nothing was changed: the ${use?.origin ?? 'environment'} overrides the configuration file. Remove it, then run this again.`,
    );
  if (report.agentType !== 'model')
    throw new ProductError(
      'CONFIGURATION',
      `Nothing was changed: ${report.agent} runs the tasks, so no model is in use. Remove the setting "agent", then run this again.`,
    );
  const noTrial = options.try === false;
  const check = await checkServerStart(at, places.serverScript, noTrial);
  const subject =
    tier !== undefined && check.findings.some(({ subject: each }) => each === `model ${tier}`)
      ? `model ${tier}`
      : 'model';
  const finding = check.findings.find((each) => each.subject === subject);
  if (noTrial && check.missingVariable !== null)
    return { use, finding: undefined, missingVariable: check.missingVariable };
  const failed = check.findings.find(
    ({ level, subject: each }) => level === 'fail' && (each === subject || !each.startsWith('model')),
  );
  if (failed === undefined) return { use, finding, missingVariable: null };
  // The message about a missing variable contains the next step.
  const next = check.missingVariable === null ? (failed.next ?? '') : '';
  const message = `Nothing was changed: ${failed.message}${/[.?]$/.test(failed.message) ? '' : '.'}`;
  throw new ProductError('CONFIGURATION', `${message} ${next}`.trimEnd(), { facts: { model: id } });
}

type Applied =
  { type: 'restarted'; server: { url: string; pid: number }; text: string } | { type: 'later'; text: string };

/** Restarts the running server. A server that needs a variable of another program's environment is left alone. */
async function applied(
  { settings, places }: CommandRun<SetOptions>,
  { missingVariable }: Succeeded,
): Promise<Applied> {
  const { stateDir: stateDirectory, configFile, autoStart } = settings;
  if (missingVariable !== null)
    return {
      type: 'later',
      text: `${missingVariable} is not set here, so a running server was not restarted. To apply the change, run: mcp-a2a-bridge server stop. Your MCP client starts the next server.`,
    };
  if (!autoStart)
    return {
      type: 'later',
      text: 'The bridge may not start a server (--no-auto-start), so restart it yourself. Its tasks go on.',
    };
  const restarted = await restartServer({ stateDirectory, script: places.serverScript, configFile });
  if (restarted === undefined)
    return { type: 'later', text: 'No server runs. The next task starts one with this model.' };
  const { before, after } = restarted;
  return {
    type: 'restarted',
    server: { url: after.url, pid: after.pid },
    text: `The local server was restarted: process ${String(before.pid)} ended, process ${String(after.pid)} runs at ${after.url}. Its tasks go on with this model.`,
  };
}

function tellFinding({ terminal }: CommandRun<SetOptions>, { level, message, next }: CheckResult): void {
  const mark = level === 'ok' ? terminal.paint('green', '✓') : terminal.paint('yellow', '!');
  terminal.say(`${mark} ${visibleText(message)}`);
  if (next !== undefined) terminal.say(`  → ${visibleText(next)}`);
}

/** An MCP client may start the next server without the variables of this terminal. */
function keyAdvice(id: string, { key }: ModelUse): string | undefined {
  if (key.type !== 'variable' || (!key.set && !key.needed)) return undefined;
  return `The key is in ${key.name}. A server that your MCP client starts needs this variable too. If the client lacks it, name a command that prints the key: mcp-a2a-bridge model set ${id} --key-command "<command>"`;
}
