/** Declares the commands of `a2a-server`, with their arguments and options. */
import { EXIT_CONFIGURATION, EXIT_FAILURE, EXIT_USAGE } from '../../../shared/runtime/exit-codes.ts';
import { Command, Option } from 'commander';
import { formatHelp, SETTINGS_HEADING } from '../../../shared/runtime/help-sections.ts';
import { addHelpCommands, pointToOwnHelp } from '../../../shared/runtime/help-command.ts';
import { refuseUnknownCommand } from '../../../shared/runtime/refuse-unknown-command.ts';
import { errorMessageOf, ProductError } from '../../../shared/runtime/errors.ts';
import { addSettingFlags } from '../../../shared/settings/add-flags.ts';
import { escapeHiddenCharacters } from '../../../shared/text/visible-text.ts';
import { lostOutputEnd } from '../../../shared/runtime/lost-output.ts';
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
} from '../settings/read-settings.ts';
import { SERVER_SETTINGS } from '../settings/settings.ts';
import { UNFLAGGED_SERVER_SETTINGS } from '../settings/unflagged-settings.ts';
import type * as JournalModule from './journal-commands.ts';
import type * as TokenModule from './token-commands.ts';
import type { PolicyDryRunOptions } from './try-policy.ts';

type JournalCommands = typeof JournalModule;
type TokenCommands = typeof TokenModule;
type RecordPlace = Awaited<ReturnType<typeof readRecordStorePlace>>;
/** The options of all `token` commands. Each command has only some of them. */
type TokenFlags = {
  name: string;
  tenant?: string;
  role: string[];
  group?: string[];
  expires: string;
  json?: boolean;
};
/** The roles of a token without `--role`. */
const DEFAULT_ROLES = ['delegate', 'approve'];
type CheckFlags = { offline?: boolean; json?: boolean } & Record<string, unknown>;

/**
 * Builds the command line of the program.
 * @param serve called if the command line names no command
 * @param pageDirectory the built page
 */
export function createCommandLine(
  serve: (flags: Readonly<Record<string, unknown>>) => Promise<void>,
  pageDirectory: string,
): Command {
  const command = new Command('a2a-server')
    .description(
      'Serves an agent over A2A 1.0 and 0.3: it works in a directory, asks before each risky step, and continues its tasks after a restart.',
    )
    .version(readPackageVersion())
    .argument('[command...]', "the agent's command line, after `--agent acp --`")
    .showHelpAfterError(usageHint(process.argv))
    .configureHelp({ formatHelp })
    .optionsGroup(SETTINGS_HEADING)
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : EXIT_USAGE))
    .action((words: readonly string[], flags: Readonly<Record<string, unknown>>, self: Command) => {
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
  return addSettingFlags(command, SERVER_SETTINGS).addHelpText(
    'after',
    `\nA flag overrides its environment variable (in parentheses). The variable overrides the section "server" of the\nconfiguration file, and the file overrides the default. Settings without a flag:\n${unflagged.join('\n')}\n\nExit codes: ${EXIT_USAGE} for a wrong command line, ${EXIT_CONFIGURATION} for wrong settings, ${EXIT_FAILURE} for other failures.`,
  );
}

/** Commander reads an option of an ACP agent as an option of this program, unless two dashes stand before it. */
function usageHint(typed: readonly string[]): string {
  return typed[typed.indexOf('--agent') + 1] === 'acp' && !typed.includes('--')
    ? '(two dashes stand before the command line of the agent: --agent acp -- <command>)'
    : '(a2a-server --help lists the options)';
}

/** A command also takes the program's own options, which its help does not list. */
function nameSharedOptions(parent: Command): void {
  for (const command of parent.commands) {
    command.addHelpText(
      'after',
      '\nThe options of a2a-server, such as --state-dir and --config, apply here too.',
    );
    nameSharedOptions(command);
  }
}

function addConfirmClock(server: Command): void {
  server
    .command('confirm-clock')
    .description(
      'confirms the clock after a jump; then the server ends expired tasks and deletes old sessions again',
    )
    .action(async (_, it: Command) => {
      try {
        const { stateDir } = await readServerSettings(it.optsWithGlobals(), process.env);
        await prepareStateDirectory(stateDir);
        const reading = await readClocks(Date.now());
        await writeClockMark(stateDir, reading);
        writeLine(
          `The clock is confirmed: it is ${new Date(reading.now).toISOString()}. A running server reads this within a minute.`,
        );
      } catch (error) {
        reportErrorAndExit(error);
      }
    });
}

function addCheck(server: Command, pageDirectory: string): void {
  server
    .command('check')
    .description(
      'checks settings, state directory and journal like a start, and tries the model; starts no server',
    )
    .option('--offline', 'do not try the model')
    .option('--json', 'print one JSON object')
    .action(async (_, it: Command) => {
      const { offline = false, json = false, ...flags } = it.optsWithGlobals<CheckFlags>();
      try {
        const { runStartChecks } = await import('./start-checks.ts');
        const report = await runStartChecks(flags, process.env, { pageDirectory, offline });
        if (json) writeLine(JSON.stringify(report));
        else
          for (const { subject, level, message, next } of report.findings)
            writeLine(
              forTerminal(`${level}: ${subject}: ${message}${next === undefined ? '' : `\n  ${next}`}`),
            );
        if (!report.ok) process.exitCode = EXIT_CONFIGURATION;
        // The write calls back after those above. So if they failed, the exit code is already set.
        process.stdout.write('', () => process.exit());
      } catch (error) {
        reportErrorAndExit(error, json);
      }
    });
}

function addModels(server: Command): void {
  server
    .command('models')
    .description(
      'prints as JSON: the models of the settings, the known models, and the models that programs on this machine serve',
    )
    .action(async (_, it: Command) => {
      try {
        const { readModelReport } = await import('./models-command.ts');
        writeLine(JSON.stringify(await readModelReport(it.optsWithGlobals(), process.env)));
      } catch (error) {
        reportErrorAndExit(error, true);
      }
    });
}

function addPolicy(server: Command): void {
  server
    .command('policy')
    .description('the rules that allow, ask for or deny tool calls')
    .command('try')
    .description('lists the verdict of the rules on each past call in the journal; changes nothing')
    .option('--rules <file>', 'use the rules of this file (a JSON list) instead of the rules in the settings')
    .option('--changed', 'list only calls whose verdict now differs from the verdict then')
    .option('--json', 'print one JSON object')
    .action(async (_, it: Command) => {
      const { rules, changed, json, ...flags } = it.optsWithGlobals<
        PolicyDryRunOptions & Record<string, unknown>
      >();
      try {
        const settings = await readServerSettings(flags, process.env);
        const { printPolicyDryRun } = await import('./try-policy.ts');
        await printPolicyDryRun(settings, { rules, changed, json }, writeLine);
      } catch (error) {
        reportErrorAndExit(error);
      }
    });
}

function addPasskeys(server: Command): void {
  server
    .command('passkey')
    .description('the passkeys that approve actions of `presence` rules')
    .command('add')
    .description('prints a one-time link that registers a passkey; the server must run')
    .option('--principal <name>', 'the user who gets the passkey', 'local')
    .action(async (_, it: Command) => {
      const { principal, ...flags } = it.optsWithGlobals<{ principal: string } & Record<string, unknown>>();
      try {
        const settings = await readServerSettings(flags, process.env);
        const { addPasskey } = await import('./add-passkey.ts');
        await addPasskey(settings, { principal, atTerminal: process.stdout.isTTY, say: writeLine });
      } catch (error) {
        reportErrorAndExit(error);
      }
    });
}

function addTokens(server: Command): void {
  const token = server.command('token').description('the tokens of the people who use this server');
  const output = { say: writeLine, note: (text: string) => void process.stderr.write(`${text}\n`) };
  const add = (
    usage: string,
    description: string,
    run: (
      commands: TokenCommands,
      place: RecordPlace,
      given: TokenFlags & { words: readonly string[] },
    ) => Promise<void>,
  ): Command =>
    token
      .command(usage)
      .description(description)
      .action(async (...given: unknown[]) => {
        const it = given.find((each): each is Command => each instanceof Command) ?? token;
        const flags = it.optsWithGlobals<TokenFlags>();
        try {
          const place = await readRecordStorePlace({ ...flags }, process.env);
          await run(await import('./token-commands.ts'), place, { ...flags, words: it.args });
        } catch (error) {
          reportErrorAndExit(error, flags.json);
        }
      });
  add('create', 'creates a token and prints it once; the server may run', (commands, place, given) =>
    commands.createToken(place, given, output),
  )
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
  add('list', 'lists the tokens, without their secrets', (commands, place, { json }) =>
    commands.printTokens(place, json === true, output),
  ).option('--json', 'print one JSON object, also for an error');
  add(
    'revoke <id>',
    'ends a token, its streams and its page sessions at once',
    (commands, place, { words }) => commands.revokeToken(place, words[0] ?? '', output),
  );
}

function addAudit(server: Command): void {
  server
    .command('audit')
    .description(
      'prints the administrative actions: tokens, grants, passkeys, and the configuration at each start',
    )
    .option('--json', 'print one JSON object per line')
    .action(async (_, it: Command) => {
      const { json = false, ...flags } = it.optsWithGlobals<{ json?: boolean } & Record<string, unknown>>();
      try {
        const place = await readRecordStorePlace(flags, process.env);
        const { printAudit } = await import('./audit-command.ts');
        await printAudit(place, json, {
          say: writeLine,
          note: (text) => void process.stderr.write(`${text}\n`),
        });
      } catch (error) {
        reportErrorAndExit(error, json);
      }
    });
}

function addPush(server: Command): void {
  const push = server
    .command('push')
    .description('the receivers of push notifications, and the key that signs them');
  const output = { say: writeLine, note: (text: string) => void process.stderr.write(`${text}\n`) };
  push
    .command('failing')
    .description(
      'lists the receivers that fail: those that the server tries again, and those that it has given up',
    )
    .option('--json', 'print one JSON object, also for an error')
    .action(async (_, it: Command) => {
      const { json = false, ...flags } = it.optsWithGlobals<{ json?: boolean } & Record<string, unknown>>();
      try {
        const { printFailingReceivers } = await import('./push-commands.ts');
        await printFailingReceivers(await readRecordStorePlace(flags, process.env), json, output);
      } catch (error) {
        reportErrorAndExit(error, json);
      }
    });
  push
    .command('retry <id>')
    .description('delivers to a failing receiver again, from its first notification that did not arrive')
    .action(async (id: string, _, it: Command) => {
      try {
        const { retryFailingReceiver } = await import('./push-commands.ts');
        await retryFailingReceiver(await readRecordStorePlace(it.optsWithGlobals(), process.env), id, output);
      } catch (error) {
        reportErrorAndExit(error);
      }
    });
  push
    .command('rotate-key')
    .description('creates the next key that signs push notifications, for all servers of these records')
    .option('--revoke', 'use the new key at once, and stop publishing the earlier keys, e.g. after a theft')
    .action(async (_, it: Command) => {
      const { revoke, ...flags } = it.optsWithGlobals<{ revoke?: boolean } & Record<string, unknown>>();
      try {
        const { rotatePushKey } = await import('./push-commands.ts');
        await rotatePushKey(await readRecordStorePlace(flags, process.env), revoke === true, output);
      } catch (error) {
        reportErrorAndExit(error);
      }
    });
}

function addJournal(server: Command): void {
  type Output = Parameters<JournalCommands['runBackup']>[1];
  const add = (
    usage: string,
    description: string,
    run: (commands: JournalCommands, args: readonly string[], output: Output, it: Command) => unknown,
  ): Command =>
    server
      .command(usage)
      .description(description)
      .option('--json', 'print one JSON object, also for an error')
      .action(async (...words: unknown[]) => {
        const it = words.find((each): each is Command => each instanceof Command) ?? server;
        const { json = false, ...flags } = it.optsWithGlobals<{ json?: boolean } & Record<string, unknown>>();
        try {
          const { stateDir } = locateSettings(flags, process.env);
          if (!(it.name() === 'verify' && it.args.length > 0)) await requireSqliteJournal(flags, process.env);
          const ok = await run(
            await import('./journal-commands.ts'),
            it.args,
            { stateDir, json, say: writeLine },
            it,
          );
          if (ok === false) process.exitCode = EXIT_FAILURE;
        } catch (error) {
          reportErrorAndExit(error, json);
        }
      });
  add(
    'backup <file>',
    'writes all tasks, without the token, to a new file; the server may run',
    (commands, [file = ''], output) => commands.runBackup(file, output),
  );
  add(
    'verify [file]',
    `checks every task of the journal, or of a backup; exit code ${EXIT_FAILURE} if it is damaged`,
    (commands, [file], output, it) =>
      commands.runVerify({ file, accept: it.opts<{ acceptLoss?: boolean }>().acceptLoss === true }, output),
  ).option('--accept-loss', 'let the next server start without the tasks that are missing');
  add(
    'restore <file>',
    'puts the tasks of a backup into the state directory; the server must not run',
    (commands, [file = ''], output, it) =>
      commands.runRestore(file, { replace: it.opts<{ replace?: boolean }>().replace === true }, output),
  ).option('--replace', 'move the existing journal away first');
}

function writeLine(text: string): void {
  process.stdout.write(`${text}\n`, (error) => {
    if (!error) return;
    const { exitCode, text: report } = lostOutputEnd('a2a-server', error);
    if (report !== undefined) process.stderr.write(`${report}\n`);
    process.exitCode ??= exitCode;
  });
}

/** Escapes the hidden characters of a text that may quote a file, a program or another server. */
function forTerminal(text: string): string {
  return text.split('\n').map(escapeHiddenCharacters).join('\n');
}

/** Reports the error and ends the process. */
export function reportErrorAndExit(error: unknown, json = false): never {
  const { reason = 'FAILURE', facts = {} } = error instanceof ProductError ? error : {};
  const message = errorMessageOf(error);
  if (json) writeLine(JSON.stringify({ error: { reason, message, facts } }));
  else process.stderr.write(`a2a-server: ${forTerminal(message)}\n`);
  process.exit(
    // A restart does not repair a damaged file, so the exit code is the same as for a wrong configuration.
    reason === 'CONFIGURATION' || facts['code'] === 'SQLITE_CORRUPT'
      ? EXIT_CONFIGURATION
      : reason === 'MALFORMED'
        ? EXIT_USAGE
        : EXIT_FAILURE,
  );
}
