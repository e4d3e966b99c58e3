/** Declares the commands of `a2a-server`, with their arguments and options. */
import { EXIT_CONFIGURATION, EXIT_FAILURE, EXIT_USAGE } from '../../../shared/runtime/exit-codes.ts';
import { Command, Option } from 'commander';
import {
  helpFormat,
  SETTINGS_HEADING,
  wrapHelpText,
  addHelpCommands,
  pointToOwnHelp,
  refuseUnknownCommand,
} from '../../../shared/runtime/help-command.ts';
import { addSettingFlags } from '../../../shared/settings/add-flags.ts';
import { readPackageVersion } from '../../../shared/runtime/version.ts';
import { locateSettings } from '../../../shared/settings/settings-location.ts';
import { prepareStateDirectory } from '../../../shared/state/state-directory.ts';
import { readClocks, writeClockMark } from '../../../shared/state/clock-mark.ts';
import {
  SERVER_LOCATION_FLAGS,
  readServerSettings,
  requireSqliteJournal,
  flagsWithAcpAgentCommand,
  readRecordStorePlace,
  type RecordStorePlace,
} from '../settings/read-settings.ts';
import { SERVER_SETTINGS } from '../settings/settings.ts';
import { UNFLAGGED_SERVER_SETTINGS } from '../settings/unflagged-settings.ts';
import { forTerminal, OUTPUT, reportErrorAndExit } from './command-output.ts';
import type { JournalCommandContext } from './journal-commands.ts';
import type { NewToken } from './token-commands.ts';
import type { PolicyDryRunOptions } from './try-policy.ts';

type Flags = Readonly<Record<string, unknown>>;
type JournalFlags = { json?: boolean };
/** The roles of a token without `--role`. */
const DEFAULT_ROLES = ['delegate', 'approve'];

/**
 * Builds the command line of the program.
 * @param serve called if the command line names no command
 * @param pageDirectory the built page
 */
export function createCommandLine(serve: (flags: Flags) => Promise<void>, pageDirectory: string): Command {
  const command = new Command('a2a-server')
    .description(
      'Serves an agent over A2A 1.0 and 0.3: it works in a directory, asks before each risky step, and continues its tasks after a restart.',
    )
    .version(readPackageVersion())
    .argument('[command...]', "the agent's command line, after `--agent acp --`")
    .showHelpAfterError(usageHint(process.argv))
    .configureHelp(helpFormat(process.stdout))
    .optionsGroup(SETTINGS_HEADING)
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : EXIT_USAGE))
    .action((words: readonly string[], flags: Flags, self: Command) => {
      const given = flagsWithAcpAgentCommand(flags, words);
      return given ? serve(given) : refuseUnknownCommand(self, words[0] ?? '');
    });
  for (const { flag, describe } of SERVER_LOCATION_FLAGS) command.option(flag, describe);
  addPolicy(command);
  addPasskeys(command);
  addTokens(command);
  addAudit(command);
  addPush(command);
  addConfirmClock(command);
  addCheck(command, pageDirectory);
  addModels(command);
  addJournal(command);
  pointToOwnHelp(command);
  nameSharedOptions(command);
  addHelpCommands(command);
  const unflagged = Object.values(UNFLAGGED_SERVER_SETTINGS).map(
    (it) => `  ${it.env}: ${it.describe} (${it.allowed})`,
  );
  return addSettingFlags(command, SERVER_SETTINGS).addHelpText('after', () =>
    wrapHelpText(
      `\nA flag overrides its environment variable (in parentheses). The variable overrides the section "server" of the\nconfiguration file, and the file overrides the default. Settings without a flag:\n${unflagged.join('\n')}\n\nExit codes: ${EXIT_USAGE} for a wrong command line, ${EXIT_CONFIGURATION} for wrong settings, ${EXIT_FAILURE} for other failures.`,
    ),
  );
}

/**
 * Returns the hint after a usage error. The two dashes may be missing before the command line of an ACP agent.
 * Commander then reads the agent's options as options of this program.
 */
function usageHint(typed: readonly string[]): string {
  return typed[typed.indexOf('--agent') + 1] === 'acp' && !typed.includes('--')
    ? '(two dashes stand before the command line of the agent: --agent acp -- <command>)'
    : '(a2a-server --help lists the options)';
}

/**
 * Adds a sentence to the help of each command. It says that the program's own options apply too, because the help of
 * the command does not list them.
 */
function nameSharedOptions(parent: Command): void {
  for (const command of parent.commands) {
    command.addHelpText(
      'after',
      '\nThe options of a2a-server, such as --state-dir and --config, apply here too.',
    );
    nameSharedOptions(command);
  }
}

/**
 * Sets what a command does. `run` gets the command's own flags with those of the program, and its arguments. If it fails,
 * the error is reported, as JSON if the command prints JSON.
 */
function setAction<Own extends object>(
  command: Command,
  run: (flags: Own & Flags, words: readonly string[]) => unknown,
  printsJson: (flags: Own & Flags) => boolean = ({ json }) => json === true,
): void {
  command.action(async () => {
    const flags = command.optsWithGlobals<Own & Flags>();
    try {
      await run(flags, command.args);
    } catch (error) {
      reportErrorAndExit(error, printsJson(flags));
    }
  });
}

function addConfirmClock(server: Command): void {
  const confirm = server
    .command('confirm-clock')
    .description(
      'confirms the clock after a jump; then the server ends expired tasks and deletes old sessions again',
    );
  setAction(confirm, async (flags) => {
    const { stateDir } = await readServerSettings(flags, process.env);
    await prepareStateDirectory(stateDir);
    const reading = await readClocks(Date.now());
    await writeClockMark(stateDir, reading);
    OUTPUT.say(
      `The clock is confirmed: it is ${new Date(reading.now).toISOString()}. A running server reads this within a minute.`,
    );
  });
}

function addCheck(server: Command, pageDirectory: string): void {
  const check = server
    .command('check')
    .description(
      'checks settings, state directory and journal like a start, and tries the model; starts no server',
    )
    .option('--offline', 'do not try the model')
    .option('--json', 'print one JSON object');
  setAction<{ offline?: boolean; json?: boolean }>(check, async ({ offline = false, json, ...flags }) => {
    const { runStartChecks } = await import('./start-checks.ts');
    const report = await runStartChecks(flags, process.env, { pageDirectory, offline });
    if (json) OUTPUT.sayJson(report);
    else
      for (const { subject, level, message, next } of report.findings)
        OUTPUT.say(forTerminal(`${level}: ${subject}: ${message}${next === undefined ? '' : `\n  ${next}`}`));
    if (!report.ok) process.exitCode = EXIT_CONFIGURATION;
    // `process.exit` could lose unfinished writes to stdout. The callback of this empty write runs after them. If one of
    // them failed, `OUTPUT` has set the exit code before.
    process.stdout.write('', () => process.exit());
  });
}

function addModels(server: Command): void {
  const models = server
    .command('models')
    .description(
      'prints as JSON: the models of the settings, the known models, and the models that programs on this machine serve',
    );
  setAction(
    models,
    async (flags) => {
      const { readModelReport } = await import('./models-command.ts');
      OUTPUT.sayJson(await readModelReport(flags, process.env));
    },
    () => true,
  );
}

function addPolicy(server: Command): void {
  const policy = server
    .command('policy')
    .description('the rules that allow, ask for or deny tool calls')
    .command('try')
    .description('lists the verdict of the rules on each past call in the journal; changes nothing')
    .option('--rules <file>', 'use the rules of this file (a JSON list) instead of the rules in the settings')
    .option('--changed', 'list only calls whose verdict now differs from the verdict then')
    .option('--json', 'print one JSON object, also for an error');
  setAction<PolicyDryRunOptions>(policy, async ({ rules, changed, json, ...flags }) => {
    const settings = await readServerSettings(flags, process.env);
    const { printPolicyDryRun } = await import('./try-policy.ts');
    await printPolicyDryRun(settings, { rules, changed, json }, OUTPUT);
  });
}

function addPasskeys(server: Command): void {
  const add = server
    .command('passkey')
    .description('the passkeys that approve actions of `presence` rules')
    .command('add')
    .description('prints a one-time link that registers a passkey; the server must run')
    .option('--principal <name>', 'the user who gets the passkey', 'local');
  setAction<{ principal: string }>(add, async ({ principal, ...flags }) => {
    const settings = await readServerSettings(flags, process.env);
    const { addPasskey } = await import('./add-passkey.ts');
    await addPasskey(settings, { principal, atTerminal: process.stdout.isTTY, say: OUTPUT.say });
  });
}

function addTokens(server: Command): void {
  const token = server.command('token').description('the tokens of the people who use this server');
  const create = token
    .command('create')
    .description('creates a token and prints it once; the server may run')
    .requiredOption('--name <name>', 'the user whom the token stands for')
    .option('--tenant <name>', "the user's team; its members share their tasks as their roles say")
    .addOption(
      new Option('--role <roles...>', 'what the token may do: delegate, approve, operate, read').default(
        DEFAULT_ROLES,
        DEFAULT_ROLES.join(','),
      ),
    )
    .option('--group <name...>', 'the groups of the user, for rules about the approver')
    .option('--expires <duration>', 'how long it works, e.g. 12h, 30d or never', '90d');
  setAction<NewToken>(create, async (flags) => {
    const { createToken } = await import('./token-commands.ts');
    await createToken(await recordStorePlace(flags), flags, OUTPUT);
  });
  const list = token
    .command('list')
    .description('lists the tokens, without their secrets')
    .option('--json', 'print one JSON object, also for an error');
  setAction<{ json?: boolean }>(list, async ({ json = false, ...flags }) => {
    const { printTokens } = await import('./token-commands.ts');
    await printTokens(await recordStorePlace(flags), json, OUTPUT);
  });
  const revoke = token
    .command('revoke <id>')
    .description('ends a token, its streams and its page sessions at once');
  setAction(revoke, async (flags, [id = '']) => {
    const { revokeToken } = await import('./token-commands.ts');
    await revokeToken(await recordStorePlace(flags), id, OUTPUT);
  });
}

function addAudit(server: Command): void {
  const audit = server
    .command('audit')
    .description(
      'prints the administrative actions: tokens, grants, passkeys, and the configuration at each start',
    )
    .option('--json', 'print one JSON object per line');
  setAction<{ json?: boolean }>(audit, async ({ json = false, ...flags }) => {
    const { printAudit } = await import('./audit-command.ts');
    await printAudit(await recordStorePlace(flags), json, OUTPUT);
  });
}

function addPush(server: Command): void {
  const push = server
    .command('push')
    .description('the receivers of push notifications, and the key that signs them');
  const failing = push
    .command('failing')
    .description(
      'lists the receivers that fail: those that the server tries again, and those that it has given up',
    )
    .option('--json', 'print one JSON object, also for an error');
  setAction<{ json?: boolean }>(failing, async ({ json = false, ...flags }) => {
    const { printFailingReceivers } = await import('./push-commands.ts');
    await printFailingReceivers(await recordStorePlace(flags), json, OUTPUT);
  });
  const retry = push
    .command('retry <id>')
    .description('delivers to a failing receiver again, from its first notification that did not arrive');
  setAction(retry, async (flags, [id = '']) => {
    const { retryFailingReceiver } = await import('./push-commands.ts');
    await retryFailingReceiver(await recordStorePlace(flags), id, OUTPUT);
  });
  const rotate = push
    .command('rotate-key')
    .description('creates the next key that signs push notifications, for all servers of these records')
    .option('--revoke', 'use the new key at once, and stop publishing the earlier keys, e.g. after a theft');
  setAction<{ revoke?: boolean }>(rotate, async ({ revoke = false, ...flags }) => {
    const { rotatePushKey } = await import('./push-commands.ts');
    await rotatePushKey(await recordStorePlace(flags), revoke, OUTPUT);
  });
}

function recordStorePlace(flags: Flags): Promise<RecordStorePlace> {
  return readRecordStorePlace(flags, process.env);
}

function addJournal(server: Command): void {
  const withJson = (usage: string, description: string): Command =>
    server
      .command(usage)
      .description(description)
      .option('--json', 'print one JSON object, also for an error');
  const outputOf = ({ json, ...flags }: JournalFlags & Flags): JournalCommandContext => {
    const { stateDir } = locateSettings(flags, process.env);
    return { ...OUTPUT, stateDir, json: json === true };
  };
  const backup = withJson(
    'backup <file>',
    'writes all tasks, without the token, to a new file; the server may run',
  );
  setAction<JournalFlags>(backup, async (flags, [file = '']) => {
    await requireSqliteJournal(flags, process.env);
    const { runBackup } = await import('./journal-commands.ts');
    runBackup(file, outputOf(flags));
  });
  const verify = withJson(
    'verify [file]',
    `checks every task of the journal, or of a backup; exit code ${EXIT_FAILURE} if it is damaged`,
  ).option('--accept-loss', 'let the next server start without the tasks that are missing');
  setAction<JournalFlags & { acceptLoss?: boolean }>(verify, async (flags, [file]) => {
    if (file === undefined) await requireSqliteJournal(flags, process.env);
    const { runVerify } = await import('./journal-commands.ts');
    const ok = await runVerify({ file, accept: flags.acceptLoss === true }, outputOf(flags));
    if (!ok) process.exitCode = EXIT_FAILURE;
  });
  const restore = withJson(
    'restore <file>',
    'puts the tasks of a backup into the state directory; the server must not run',
  ).option('--replace', 'move the existing journal away first');
  setAction<JournalFlags & { replace?: boolean }>(restore, async (flags, [file = '']) => {
    await requireSqliteJournal(flags, process.env);
    const { runRestore } = await import('./journal-commands.ts');
    await runRestore(file, { replace: flags.replace === true }, outputOf(flags));
  });
}
