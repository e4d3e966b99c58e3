/**
 * Tries new model settings before they are written: checks that a server starts with them, and that the model responds.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CheckResult } from '../../../shared/runtime/check-result.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { ModelUse } from '../../../shared/runtime/model-report.ts';
import type { CommandRun } from '../context/run-command.ts';
import { checkServerStart, readServerModelReport } from '../context/server-program.ts';
import type { ModelChange } from './edit-model-settings.ts';
import type { SetModelOptions } from './requested-change.ts';

const MODE = 0o600;
/** The signals with which a person ends a command, e.g. Ctrl-C. */
const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const UNCHANGED = 'Nothing was changed';

/**
 * Checks the new settings, and writes them only to a temporary file.
 * @param file the configuration file with its new text
 * @throws ProductError CONFIGURATION if a server with these settings would not start, or if its model does not answer
 */
export async function tryModelChange(
  run: CommandRun<SetModelOptions>,
  change: ModelChange,
  file: { path: string; text: string },
): Promise<TriedModel> {
  return withCandidate(run, file, (candidate) => runTrial(run, change, candidate));
}

/** Writes the new settings into a temporary file, and runs the work with it. Error messages name the real file. */
async function withCandidate<Result>(
  { settings: { stateDir } }: CommandRun<SetModelOptions>,
  { path, text }: { path: string; text: string },
  work: (candidate: string) => Promise<Result>,
): Promise<Result> {
  // The settings may contain tokens. So the temporary file is in the state directory, which only this user can read.
  const directory = join(stateDir, `candidate-${randomUUID()}`);
  const candidate = join(directory, 'config.json');
  const end = (signal: NodeJS.Signals): void => {
    rmSync(directory, { recursive: true, force: true });
    process.kill(process.pid, signal); // The listener is gone, so this ends the process.
  };
  for (const signal of END_SIGNALS) process.once(signal, end);
  try {
    mkdirSync(directory, { mode: 0o700 });
    await writeFile(candidate, text, { mode: MODE });
    return await work(candidate);
  } catch (error) {
    if (!(error instanceof ProductError)) throw error;
    const { reason, facts, message } = error;
    const named = message.replaceAll(candidate, path);
    throw new ProductError(
      reason,
      named.startsWith(UNCHANGED) ? named : `${UNCHANGED}. With the new model: ${named}`,
      { facts, cause: error },
    );
  } finally {
    for (const signal of END_SIGNALS) process.removeListener(signal, end);
    await rm(directory, { recursive: true, force: true });
  }
}

export interface TriedModel {
  use: ModelUse;
  /** The result of the check. Undefined if the server could not be checked. */
  finding: CheckResult | undefined;
  /** The variable that the server needs and that is not set in this terminal. Null if none is missing. */
  missingVariable: string | null;
}

/**
 * Runs the trial.
 * @throws ProductError CONFIGURATION if a server with these settings would not start, or if its model does not answer
 */
async function runTrial(
  { options, settings: { stateDir }, places }: CommandRun<SetModelOptions>,
  { id, tier }: ModelChange,
  configFile: string,
): Promise<TriedModel> {
  const at = { stateDir, configFile };
  const report = await readServerModelReport(at, places.serverScript);
  const use = report.uses.find((each) => each.use === (tier ?? 'default'));
  if (use === undefined || use.id !== id)
    throw new ProductError(
      'CONFIGURATION',
      `${UNCHANGED}: the ${use?.origin ?? 'environment'} overrides the configuration file. Remove it, then run this again.`,
    );
  if (report.agentType !== 'model')
    throw new ProductError(
      'CONFIGURATION',
      `${UNCHANGED}: ${report.agent} runs the tasks, so no model is in use. Remove the setting "agent", then run this again.`,
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
  // The message about a missing variable already names the next step.
  const next = check.missingVariable === null ? (failed.next ?? '') : '';
  const message = `${UNCHANGED}: ${failed.message}${/[.?]$/.test(failed.message) ? '' : '.'}`;
  throw new ProductError('CONFIGURATION', `${message} ${next}`.trimEnd(), { facts: { model: id } });
}
