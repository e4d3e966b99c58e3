/** `a2a-server check`: makes the checks of a start, and tries the models. It starts nothing and changes nothing. */
import { join } from 'node:path';
import { messageOf, ProductError } from '../../shared/runtime/errors.ts';
import { type CheckResult, fail, ok, type ServerCheck, warn } from '../../shared/runtime/check-result.ts';
import { requireOpenable } from '../journal/sqlite/check-journal.ts';
import type { Model } from '../models/model.ts';
import { OFFLINE_MODEL_ID, TIERS } from '../models/model-settings.ts';
import { NO_RECORDS } from '../processes/child-processes.ts';
import { NO_OUTPUTS } from '../tools/builtin/read-output.ts';
import { agentText } from './agent-backend.ts';
import { offeredModels } from './configured-models.ts';
import { prepareServer } from './prepare.ts';
import { readServerSettings } from './read-settings.ts';
import { unknownMcpServers } from './server-policy.ts';
import type { ServerSettings } from './settings.ts';
import { tryModel } from './try-model.ts';

export interface CheckOptions {
  pageDirectory: string;
  /** True if the check must call no model. */
  offline: boolean;
}

const SETTINGS = 'server settings';
const MODEL = 'model';

/** @param flags and @param env as for `readServerSettings` */
export async function checkServer(
  flags: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
  { pageDirectory, offline }: CheckOptions,
): Promise<ServerCheck> {
  let agent: string | null = null;
  try {
    const settings = await readServerSettings(flags, env);
    agent = agentText(settings);
    const prepared = await prepareServer(settings, {
      pageDirectory,
      children: NO_RECORDS,
      outputs: NO_OUTPUTS,
      makeDirectory: makeNothing,
    });
    await prepared.worker.close();
    const findings = [
      ok(SETTINGS, 'a server can start with them'),
      ...unknownServers(settings),
      ...journal(settings),
      ...(await models(settings, env, offline)),
    ];
    return { ok: findings.every(({ level }) => level !== 'fail'), agent, missingVariable: null, findings };
  } catch (error) {
    const { variable = null } = error instanceof ProductError ? error.facts : {};
    const finding =
      variable === null
        ? fail(SETTINGS, messageOf(error), 'Correct this: a server with these settings does not start.')
        : fail(
            MODEL,
            `${agent ?? 'it'} cannot be used: ${messageOf(error)}`,
            `Set ${variable} for the program that starts the server: your MCP client, or this terminal.`,
          );
    return { ok: false, agent, missingVariable: variable, findings: [finding] };
  }
}

function makeNothing(): Promise<void> {
  return Promise.resolve();
}

function unknownServers(settings: ServerSettings): CheckResult[] {
  return unknownMcpServers(settings).map((name) =>
    warn(
      'policy',
      `a rule names the MCP server "${name}", which is not configured`,
      'Add it to "mcpServers", or correct the rule.',
    ),
  );
}

function journal({ stateDir }: ServerSettings): CheckResult[] {
  try {
    requireOpenable(join(stateDir, 'journal.db'));
    return [];
  } catch (error) {
    return [fail('journal', messageOf(error), 'Do what the message says: the server does not start.')];
  }
}

/** The check reports a failing provider at once. */
const NO_RETRIES = { retries: 0, pauseMs: 0, maxPauseMs: 0 };

async function models(
  settings: ServerSettings,
  env: Readonly<Record<string, string | undefined>>,
  offline: boolean,
): Promise<CheckResult[]> {
  if (settings.agent.type !== 'model') return [ok('agent', agentText(settings))];
  const offered = offeredModels(settings, env, NO_RETRIES);
  const uses = new Map<Model, string>();
  for (const tier of [undefined, ...TIERS]) {
    const model = offered.resolve(tier);
    if (!uses.has(model)) uses.set(model, tier === undefined ? MODEL : `${MODEL} ${tier}`);
  }
  return Promise.all([...uses].map(([model, subject]) => modelResult(model, subject, offline)));
}

async function modelResult(model: Model, subject: string, offline: boolean): Promise<CheckResult> {
  if (model.id === OFFLINE_MODEL_ID)
    return ok(
      subject,
      'offline, which follows a few fixed forms. For a language model set "model" (docs/models.md)',
    );
  if (offline) return ok(subject, `${model.id}, not tried`);
  const tried = await tryModel(model);
  return tried.type === 'answers'
    ? ok(subject, `${model.id} answers (${(tried.ms / 1000).toFixed(1)} s)`)
    : fail(
        subject,
        `${model.id} does not answer: ${tried.problem}`,
        'Correct the model, its key or its URL, then run this again. --offline leaves this check out.',
      );
}
