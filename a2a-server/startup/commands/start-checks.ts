/**
 * `a2a-server check` makes the checks of a server start, and sends a short request to each model. The command starts no
 * server and changes nothing.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MODEL_TIERS } from '../../../shared/settings/model-tiers.ts';
import { errorMessageOf, ProductError } from '../../../shared/runtime/errors.ts';
import {
  type CheckResult,
  type ServerCheckReport,
  STATE_DIRECTORY_SUBJECT,
  checkResults,
} from '../../../shared/runtime/check-result.ts';
import type { Environment } from '../../../shared/runtime/environment.ts';
import { requireOpenableJournal } from '../../journal/sqlite/require-openable.ts';
import type { Model, Models } from '../../models/model.ts';
import { OFFLINE_MODEL_ID } from '../../models/model-settings.ts';
import { NO_CHILD_RECORDS } from '../../processes/child-process-records.ts';
import { NO_TOOL_OUTPUTS } from '../../tools/builtin/read-output.ts';
import { providerName } from '../../access/oidc-settings.ts';
import { redirectUriOf } from '../../page/provider-sign-in.ts';
import type { IssuedTokenRecord } from '../../access/issued-token.ts';
import { createTokenStore } from '../../access/token-store.ts';
import { createFileRecordStore } from '../../records/file-records.ts';
import { agentBackendText } from '../agent-backend.ts';
import { checkModel } from './check-model.ts';
import { prepareServer } from '../prepare-server.ts';
import { readServerSettings } from '../settings/read-settings.ts';
import type { Policy } from '../../policy/create-policy.ts';
import { serverOrigin } from '../listen.ts';
import {
  requireSafeStateDirectory,
  requireWritableOrCreatable,
} from '../../../shared/state/state-directory.ts';
import { checkStoredToken } from '../../../shared/state/token-file.ts';
import { type CommandRecords, withRecords } from './with-records.ts';
import { groupsWithoutMembers, presencePolicyProblem, unknownMcpServers } from '../settings/server-policy.ts';
import { checkVariableNames } from '../../../shared/settings/check-variable-names.ts';
import { ALL_SERVER_SETTINGS, type ServerSettings } from '../settings/settings.ts';

interface CheckOptions {
  pageDirectory: string;
  /** True if the check must not send a request to a model. */
  offline: boolean;
}

const SETTINGS = 'server settings';
const MODEL = 'model';
const START_FAILS = 'Do what the message says: the server does not start.';

/** Runs the checks of a server start. @param flags and env: as for `readServerSettings` */
export async function runStartChecks(
  flags: Readonly<Record<string, unknown>>,
  env: Environment,
  { pageDirectory, offline }: CheckOptions,
): Promise<ServerCheckReport> {
  let agent: string | null = null;
  try {
    const settings = await readServerSettings(flags, env);
    agent = agentBackendText(settings);
    const prepared = await prepareServer(settings, {
      pageDirectory,
      children: NO_CHILD_RECORDS,
      outputs: NO_TOOL_OUTPUTS,
      makeDirectory: makeNothing,
      // Without retries, the check reports a failing provider at once.
      retryPolicy: { retries: 0, pauseMs: 0, maxPauseMs: 0 },
    });
    const { models: offered } = prepared.worker;
    const findings = [
      checkResults(SETTINGS).ok('the server can start with them'),
      ...checkVariableNames('A2A_SERVER_', { settings: ALL_SERVER_SETTINGS, values: settings, env }),
      ...unknownServers(settings),
      ...checkPresence(settings, prepared.live.policy()),
      ...signInWithProvider(settings),
      ...(await checkGroups(settings)),
      ...(await stateDirectory(settings)),
      ...(await checkJournal(settings)),
      ...(await checkModels(settings, offered, { env, offline })),
    ];
    await prepared.worker.close();
    return { ok: findings.every(({ level }) => level !== 'fail'), agent, missingVariable: null, findings };
  } catch (error) {
    const { variable = null } = error instanceof ProductError ? error.facts : {};
    const finding =
      variable === null
        ? checkResults(SETTINGS).fail(
            errorMessageOf(error),
            'Correct this: a server with these settings does not start.',
          )
        : checkResults(MODEL).fail(
            `${agent ?? 'it'} cannot be used: ${errorMessageOf(error)}`,
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
    checkResults('policy').warn(
      `a rule names the MCP server "${name}", which is not configured`,
      'Add it to "mcpServers", or correct the rule.',
    ),
  );
}

function checkPresence({ publicUrl, host, port }: ServerSettings, policy: Policy): CheckResult[] {
  const problem = presencePolicyProblem(policy, publicUrl ?? serverOrigin({ host, port }));
  return problem === undefined
    ? []
    : [
        checkResults('policy').warn(
          problem,
          'Set --public-url to an https address with a domain, or remove the rule.',
        ),
      ];
}

function signInWithProvider({ oidc, publicUrl }: ServerSettings): CheckResult[] {
  if (oidc?.signIn === undefined || publicUrl === undefined) return [];
  const provider = providerName(oidc);
  return [
    checkResults('sign-in').ok(
      `with ${provider}, which must know the redirect URI ${redirectUriOf(publicUrl)} of the client`,
    ),
  ];
}

/**
 * Warns about groups without members. If a rule demands an approver from such a group, no person can approve its tool
 * calls.
 */
async function checkGroups(settings: ServerSettings): Promise<CheckResult[]> {
  if (settings.policy.every(({ approver }) => approver?.group === undefined)) return [];
  try {
    const tokens = await readIssuedTokens(settings);
    return groupsWithoutMembers(settings, tokens, Date.now()).map((group) =>
      checkResults('policy').warn(
        `a rule demands an approver in group ${group}, and no token with the role approve is in it`,
        `Create one with \`a2a-server token create --group ${group}\`, or correct the rule.`,
      ),
    );
  } catch (error) {
    return [
      checkResults('policy').warn(
        `the groups of its rules cannot be checked: ${errorMessageOf(error)}`,
        'Check the stored tokens.',
      ),
    ];
  }
}

/**
 * Reads the issued tokens. If they are in the state directory, does not use `withRecords`, which would create a missing
 * directory. A check changes nothing.
 */
function readIssuedTokens(settings: ServerSettings): Promise<IssuedTokenRecord[]> {
  const { database, stateDir } = settings;
  return database === undefined
    ? listIssuedTokens(createFileRecordStore(stateDir, () => undefined))
    : withRecords(settings, listIssuedTokens);
}

function listIssuedTokens(records: CommandRecords): Promise<IssuedTokenRecord[]> {
  return createTokenStore(records).list();
}

/**
 * Returns a problem if a start would refuse the state directory. A start refuses it if the server cannot write to it,
 * or if other users of the machine could use the directory or its token file.
 */
async function stateDirectory({ stateDir }: ServerSettings): Promise<CheckResult[]> {
  try {
    await requireWritableOrCreatable(stateDir);
    if (!existsSync(stateDir)) return [];
    await requireSafeStateDirectory(stateDir);
    await checkStoredToken(stateDir);
    return [];
  } catch (error) {
    return [checkResults(STATE_DIRECTORY_SUBJECT).fail(errorMessageOf(error), START_FAILS)];
  }
}

async function checkJournal({ database, stateDir }: ServerSettings): Promise<CheckResult[]> {
  try {
    if (database === undefined) requireOpenableJournal(join(stateDir, 'journal.db'));
    else {
      const { requireUsableDatabase } = await import('../../journal/postgres/readonly-journal.ts');
      await requireUsableDatabase(database);
    }
    return [];
  } catch (error) {
    return [checkResults('journal').fail(errorMessageOf(error), START_FAILS)];
  }
}

async function checkModels(
  settings: ServerSettings,
  offered: Models,
  { env, offline }: { env: Environment; offline: boolean },
): Promise<CheckResult[]> {
  if (settings.agent.type !== 'model') return [checkResults('agent').ok(agentBackendText(settings))];
  const uses = new Map<Model, string>();
  for (const tier of [undefined, ...MODEL_TIERS]) {
    const model = offered.resolve(tier);
    if (!uses.has(model)) uses.set(model, tier === undefined ? MODEL : `${MODEL} ${tier}`);
  }
  return Promise.all(
    [...uses].map(async ([model, subject]) =>
      offline && model.id !== OFFLINE_MODEL_ID
        ? checkResults(subject).ok(`${model.id}, not tried`)
        : checkModel(model, subject, { settings, env }),
    ),
  );
}
