#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { messageOf, ProductError } from '../shared/runtime/errors.ts';
import { addFlags } from '../shared/settings/add-flags.ts';
import { consoleToLog, createLogger } from '../shared/runtime/logging.ts';
import type { DestinationStream } from 'pino';
import { logFile } from '../shared/runtime/log-file.ts';
import type { Logger } from '../shared/runtime/logging.ts';
import { CHILD_MARKER, hideEnvironment } from '../shared/runtime/hide-environment.ts';
import { readClocks, writeClockMark } from '../shared/state/clock-mark.ts';
import { settingsSources } from '../shared/settings/settings-sources.ts';
import { packageVersion } from '../shared/runtime/version.ts';
import {
  LOCATION_FLAGS,
  readServerSettings,
  requireSqliteJournal,
  withAgentCommand,
  readRecordPlace,
} from './startup/read-settings.ts';
import { settingsReloader } from './startup/reload-settings.ts';
import { SERVER_SETTINGS } from './startup/settings.ts';
import { UNFLAGGED_SETTINGS } from './startup/unflagged-settings.ts';
import { commandEnvironment } from './tools/shell/command-environment.ts';
import type { ServerRun } from './startup/serve.ts';
import type * as JournalModule from './startup/journal-commands.ts';
import type * as TokenModule from './startup/token-commands.ts';
import type { TryOptions } from './startup/try-policy.ts';

type JournalCommands = typeof JournalModule;
type TokenCommands = typeof TokenModule;
type RecordPlace = Awaited<ReturnType<typeof readRecordPlace>>;
/** The options of all `token` commands. Each command sets its own. */
type TokenFlags = { name: string; tenant?: string; role: string; expires: string; json?: boolean };
type CheckFlags = { offline?: boolean; json?: boolean } & Record<string, unknown>;

/** sysexits.h EX_CONFIG: a restart helps only after a change of the configuration. */
const EXIT_CONFIGURATION = 78;
const EXIT_FAILURE = 1;
/** The usual exit code of shells for an invalid command line. */
const EXIT_USAGE = 2;

const PAGE = fileURLToPath(new URL('../web/', import.meta.url));

const SHUTDOWN_STAGES = [
  'shutting down: waiting for the running tools',
  'shutting down: stopping the running tools',
  'exiting at once',
] as const;

/** False if unconfined commands can read the environment of this process in /proc. */
const secretsHidden = hideEnvironment(isHarmless);

void program().parseAsync();

function program(): Command {
  const command = new Command('a2a-server')
    .description(
      'Serves an agent over A2A 1.0 and 0.3: it works in a directory, asks before each risky step, and continues its tasks after a restart.',
    )
    .version(packageVersion())
    .argument('[command...]', "the agent's command line, after `--agent acp --`")
    .showHelpAfterError('(a2a-server --help lists the options)')
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : EXIT_USAGE))
    .action((words: readonly string[], flags: Readonly<Record<string, unknown>>, self: Command) => {
      const given = withAgentCommand(flags, words);
      return given ? start(given) : self.error(`error: unexpected argument "${words[0]}"`);
    });
  for (const { flag, describe } of LOCATION_FLAGS) command.option(flag, describe);
  addPolicy(command);
  addPasskeys(command);
  addTokens(command);
  addAudit(command);
  addConfirmClock(command);
  addCheck(command);
  addModels(command);
  addJournal(command);
  const unflagged = Object.values(UNFLAGGED_SETTINGS).map(
    (it) => `  ${it.env}: ${it.describe} (${it.allowed})`,
  );
  return addFlags(command, SERVER_SETTINGS).addHelpText(
    'after',
    `\nA flag overrides its environment variable (in parentheses). The variable overrides the section "server" of the\nconfiguration file, and the file overrides the default. Settings without a flag:\n${unflagged.join('\n')}\n\nExit codes: ${EXIT_USAGE} for a wrong command line, ${EXIT_CONFIGURATION} for wrong settings, ${EXIT_FAILURE} for other failures.`,
  );
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
        const reading = await readClocks(Date.now());
        await writeClockMark(stateDir, reading);
        say(
          `The clock is confirmed: it is ${new Date(reading.now).toISOString()}. A running server reads this within a minute.`,
        );
      } catch (error) {
        fail(error);
      }
    });
}

function addCheck(server: Command): void {
  server
    .command('check')
    .description('checks the settings and the journal like a start, and tries the model; starts no server')
    .option('--offline', 'do not try the model')
    .option('--json', 'print one JSON object')
    .action(async (_, it: Command) => {
      const { offline = false, json = false, ...flags } = it.optsWithGlobals<CheckFlags>();
      try {
        const { checkServer } = await import('./startup/check.ts');
        const report = await checkServer(flags, process.env, { pageDirectory: PAGE, offline });
        if (json) say(JSON.stringify(report));
        else
          for (const { subject, level, message, next } of report.findings)
            say(`${level}: ${subject}: ${message}${next === undefined ? '' : `\n  ${next}`}`);
        process.exit(report.ok ? 0 : EXIT_CONFIGURATION);
      } catch (error) {
        fail(error, json);
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
        const { reportModels } = await import('./startup/report-models.ts');
        say(JSON.stringify(await reportModels(it.optsWithGlobals(), process.env)));
      } catch (error) {
        fail(error, true);
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
    .option('--changed', 'list only calls whose verdict changes')
    .option('--json', 'print one JSON object')
    .action(async (_, it: Command) => {
      const { rules, changed, json, ...flags } = it.optsWithGlobals<TryOptions & Record<string, unknown>>();
      try {
        const settings = await readServerSettings(flags, process.env);
        const { tryPolicy } = await import('./startup/try-policy.ts');
        await tryPolicy(settings, { rules, changed, json }, say);
      } catch (error) {
        fail(error);
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
        const { addPasskey } = await import('./startup/add-passkey.ts');
        await addPasskey(settings, { principal, atTerminal: process.stdout.isTTY, say });
      } catch (error) {
        fail(error);
      }
    });
}

function addTokens(server: Command): void {
  const token = server.command('token').description('the tokens of the people who use this server');
  const output = { say, note: (text: string) => void process.stderr.write(`${text}\n`) };
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
          const place = await readRecordPlace({ ...flags }, process.env);
          await run(await import('./startup/token-commands.ts'), place, { ...flags, words: it.args });
        } catch (error) {
          fail(error, flags.json);
        }
      });
  add('create', 'creates a token and prints it once; the server may run', (commands, place, given) =>
    commands.createToken(place, given, output),
  )
    .requiredOption('--name <name>', 'the user whom the token stands for')
    .option('--tenant <name>', "the user's team; its members share their tasks as their roles say")
    .option('--role <roles>', 'what the token may do: delegate, approve, operate, read', 'delegate,approve')
    .option('--expires <duration>', 'how long it works, e.g. 12h, 30d or never', '90d');
  add('list', 'lists the tokens, without their secrets', (commands, place, { json }) =>
    commands.listTokens(place, json === true, output),
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
      'prints the administrative acts: tokens, grants, passkeys, and the configuration at each start',
    )
    .option('--json', 'print one JSON object per line')
    .action(async (_, it: Command) => {
      const { json = false, ...flags } = it.optsWithGlobals<{ json?: boolean } & Record<string, unknown>>();
      try {
        const place = await readRecordPlace(flags, process.env);
        const { printAudit } = await import('./startup/audit-command.ts');
        await printAudit(place, json, { say, note: (text) => void process.stderr.write(`${text}\n`) });
      } catch (error) {
        fail(error, json);
      }
    });
}

function addJournal(server: Command): void {
  type Output = Parameters<JournalCommands['backup']>[1];
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
          const { stateDir } = settingsSources(flags, process.env);
          if (!(it.name() === 'verify' && it.args.length > 0)) await requireSqliteJournal(flags, process.env);
          const ok = await run(
            await import('./startup/journal-commands.ts'),
            it.args,
            { stateDir, json, say },
            it,
          );
          if (ok === false) process.exitCode = EXIT_FAILURE;
        } catch (error) {
          fail(error, json);
        }
      });
  add(
    'backup <file>',
    'writes all tasks, without the token, to a new file; the server may run',
    (commands, [file = ''], output) => commands.backup(file, output),
  );
  add(
    'verify [file]',
    `checks every task of the journal, or of a backup; exit code ${EXIT_FAILURE} if it is damaged`,
    (commands, [file], output, it) =>
      commands.verifyJournals(
        { file, accept: it.opts<{ acceptLoss?: boolean }>().acceptLoss === true },
        output,
      ),
  ).option('--accept-loss', 'let the next server start without the tasks that are missing');
  add(
    'restore <file>',
    'puts the tasks of a backup into the state directory; the server must not run',
    (commands, [file = ''], output, it) =>
      commands.restore(file, { replace: it.opts<{ replace?: boolean }>().replace === true }, output),
  ).option('--replace', 'move the existing journal away first');
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function fail(error: unknown, json = false): never {
  const { reason = 'FAILURE', facts = {} } = error instanceof ProductError ? error : {};
  const message = messageOf(error);
  if (json) say(JSON.stringify({ error: { reason, message, facts } }));
  else process.stderr.write(`a2a-server: ${message}\n`);
  process.exit(
    // A restart does not repair a damaged file, so the exit code is the same as for a wrong configuration.
    reason === 'CONFIGURATION' || facts['code'] === 'SQLITE_CORRUPT' ? EXIT_CONFIGURATION : EXIT_FAILURE,
  );
}

function isHarmless(name: string): boolean {
  return name === CHILD_MARKER || Object.hasOwn(commandEnvironment({ [name]: '' }), name);
}

async function start(flags: Readonly<Record<string, unknown>>): Promise<void> {
  // The server continues after its terminal is closed.
  process.on('SIGHUP', () => undefined);
  try {
    const settings = await readServerSettings(flags, process.env);
    const log = createLogger({ name: 'a2a-server', level: settings.logLevel, ...logTo(settings.logFile) });
    consoleToLog(log);
    giveUpOnBugs(log);
    const reload = settingsReloader(settings, () => readServerSettings(flags, process.env), log);
    process.on('SIGHUP', () => void reload());
    if (!secretsHidden)
      log.warn('shell commands can read the secrets of this process in /proc; set --confine-shell require');
    const started = import('./startup/serve.ts').then(({ serve }) => serve(settings, log, PAGE));
    const told = stopOnSignals(started, log);
    const run = await started;
    if (told()) return;
    const { url, pid, version } = run.record;
    log.info({ url, pid, version, state: settings.stateDir, recovered: run.recovered }, 'ready');
    process.stdout.write(`a2a-server ${version} is ready at ${url} (state in ${settings.stateDir})\n`);
  } catch (error) {
    fail(error);
  }
}

/** @throws ProductError CONFIGURATION if the file cannot be written */
function logTo(path: string | undefined): { destination?: DestinationStream } {
  if (path === undefined) return {};
  try {
    return { destination: logFile(path) };
  } catch (error) {
    throw new ProductError(
      'CONFIGURATION',
      `Setting "logFile": ${path} cannot be opened: ${messageOf(error)}.`,
      {
        facts: { key: 'logFile', path },
        cause: error,
      },
    );
  }
}

/**
 * The first signal stops the server and gives running tools some time to finish. The second signal stops the tools at
 * once. The third signal ends the process. The journal stays correct in each case. A server that is still starting
 * stops after its start, because it may already run tools of resumed tasks. Returns a function that returns true after
 * the first signal.
 */
function stopOnSignals(started: Promise<ServerRun>, log: Logger): () => boolean {
  let signals = 0;
  const stop = (signal: NodeJS.Signals): void => {
    signals += 1;
    log.info({ signal }, SHUTDOWN_STAGES[Math.min(signals, SHUTDOWN_STAGES.length) - 1]);
    if (signals > 2) process.exit(EXIT_FAILURE);
    const hurried = signals === 2;
    started.then(
      (run) => {
        if (hurried) run.hurry();
        return run.stop().then(
          () => process.exit(0),
          (error: unknown) => {
            log.fatal({ err: error }, 'the shutdown failed');
            process.exit(EXIT_FAILURE);
          },
        );
      },
      // The caller of `stopOnSignals` reports why the start failed.
      () => undefined,
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  return () => signals > 0;
}

/** Ends the process after an unexpected error. The journal stays correct, and the next process continues its tasks. */
function giveUpOnBugs(log: Logger): void {
  const giveUp = (error: unknown): void => {
    log.fatal({ err: error }, 'uncaught error');
    process.exit(EXIT_FAILURE);
  };
  process.on('uncaughtException', giveUp);
  process.on('unhandledRejection', giveUp);
  // The program that started the server may close the other end of the pipe. Without a listener, Node would throw.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
}
