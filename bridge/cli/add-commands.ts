/**
 * Declares the commands with their arguments and options. The module of a command is imported only when the command
 * runs.
 */
import { type Command, Option } from 'commander';
import { addHelpCommands, wrapHelpText, refuseUnknownCommand } from '../../shared/runtime/help-command.ts';
import type { BuiltProgramPaths } from '../settings/program-paths.ts';
import type { CommandRun } from './context/run-command.ts';

const ONE_OBJECT = 'print one JSON object, also for an error';

export function addCommands(program: Command, places: BuiltProgramPaths): void {
  const actionOf = <Options extends object>(load: LoadCommand<Options>) =>
    async function (this: Command): Promise<void> {
      const work = await load(this);
      const { runCommand } = await import('./context/run-command.ts');
      // `optsWithGlobals` also returns the program's own options, such as --state-dir. A user may write them before or
      // after the command.
      const options = this.optsWithGlobals<Options & Record<string, unknown>>();
      await runCommand<Options>((run) => work(run, ...this.processedArgs), options, places);
    };
  const add: Add = (usage, description, { into = program, json = ONE_OBJECT } = {}) =>
    into
      .command(usage)
      .description(description)
      // Without this line, a command would inherit the setting of the program, and would ignore excess arguments.
      .allowExcessArguments(false)
      .option('--json', json)
      .addHelpText('after', () =>
        wrapHelpText(
          '\nThe options of mcp-a2a-bridge, such as --state-dir, --config and --agent-url, apply here too.',
        ),
      );
  addSetUp(add, actionOf);
  addModel(add, actionOf);
  addAgents(add, actionOf);
  addProbe(add, actionOf);
  addTasks(add, actionOf);
  addDecisions(add, actionOf);
  addServer(program, add, actionOf);
  addHelpCommands(program);
}

interface AddOptions {
  /** The command that the new one belongs to; by default the program. */
  into?: Command;
  /** What `--json` prints; by default one object. */
  json?: string;
}
type Add = (usage: string, description: string, options?: AddOptions) => Command;
/** A word of the command line: the value of an argument, or all values of a variadic one. */
type Word = string & string[];
type CommandFunction<Options extends object> = (
  run: CommandRun<Options>,
  ...words: Word[]
) => Promise<number | void>;

/** Imports the function that runs a command. */
type LoadCommand<Options extends object> = (it: Command) => Promise<CommandFunction<Options>>;

/** Returns the action of a command. The action imports the function that runs the command. */
type ActionOf = <Options extends object>(load: LoadCommand<Options>) => (this: Command) => Promise<void>;

/** Declares a command that has subcommands, and that also runs without a subcommand. */
function addGroup(
  add: Add,
  name: string,
  description: string,
  work: (this: Command) => Promise<void>,
): Command {
  return add(name, description)
    .allowExcessArguments()
    .action(async function (this: Command) {
      const [unknown] = this.args;
      if (unknown !== undefined) refuseUnknownCommand(this, unknown);
      await work.call(this);
    });
}

const PROBE_TEXT = 'Write the numbers from one to ten in words. Use no tools.';

const SCOPE =
  'user (everywhere), project (everybody, in this directory) or local (you, in this directory; Claude Code alone)';

function addSetUp(add: Add, actionOf: ActionOf): void {
  const writing = (usage: string, description: string): Command =>
    add(usage, description)
      .option('--all', 'every client on this machine')
      .option('--scope <scope>', `${SCOPE}; default user`)
      .option('--name <name>', "the server's name in the client; default a2a-bridge")
      .option('--dry-run', 'show the change and write nothing')
      .option('--yes', 'write without asking');
  writing(
    'install [client] [args...]',
    'puts the bridge into the settings of claude, gemini, codex, cursor or vscode; arguments after -- go to the bridge',
  ).action(
    actionOf(async (it) => {
      const { installCommand } = await import('./commands/install.ts');
      return (run) => installCommand(run, it.args);
    }),
  );
  writing('uninstall [client]', 'removes the bridge from the settings of a client').action(
    actionOf(async (it) => {
      const { uninstallCommand } = await import('./commands/install.ts');
      return (run) => uninstallCommand(run, it.args);
    }),
  );
  add('doctor', 'checks settings, model, agents, tokens, clocks and clients, and says what to do')
    .option('--offline', 'ask no model and no agent')
    .option('--webhook', 'send a test post to the approval webhook')
    .action(actionOf(async () => (await import('./commands/doctor.ts')).doctorCommand));
}

const TOKEN_VARIABLE =
  'the environment variable that contains its token; a token itself would stay in the history of the shell';

/**
 * Refuses a token on the command line. The error message does not repeat the token, because the message may end in a
 * log.
 */
function refuseToken(it: Command): Command {
  return it
    .addOption(new Option('--token [token]').hideHelp())
    .on('option:token', () =>
      it.error(
        'error: a token on the command line stays in the history of your shell, and other users of the machine can see it. Revoke this token if it works. Then name an environment variable that contains the new one: --token-variable <name>. Or name a command that prints it: --token-command <command>.',
      ),
    );
}

function addAgents(add: Add, actionOf: ActionOf): void {
  const list = actionOf(async () => (await import('./commands/agents.ts')).listAgentsCommand);
  const agents = addGroup(
    add,
    'agents',
    'lists the agents of the settings; check, add, import or remove them',
    list,
  );
  add('list', 'lists the agents of the settings, and asks none of them', { into: agents }).action(list);
  add('check [name]', 'asks an agent, or each agent, what it can do; starts no task', {
    into: agents,
  }).action(actionOf(async () => (await import('./commands/agents.ts')).checkAgentsCommand));
  const writing = (usage: string, description: string): Command =>
    add(usage, description, { into: agents })
      .option('--dry-run', 'show the change and write nothing')
      .option('--yes', 'write without asking');
  refuseToken(
    writing('add <url>', 'tries the A2A agent at this URL, says what it can do, and adds it to the settings'),
  )
    .option('--name <name>', 'its name in calls; default: the name on its card')
    .option('--card-url <url>', 'the URL of its card, if it is not below the URL of the agent')
    .option('--token-variable <name>', TOKEN_VARIABLE)
    .option('--token-command <command>', 'a command that prints its token')
    .action(actionOf(async () => (await import('./commands/agents.ts')).addAgentCommand));
  writing(
    'import <registry> [names...]',
    'lists the agents of a registry (a file or a URL); tries and adds those that you name',
  )
    .option('--all', 'all agents of the registry')
    .action(actionOf(async () => (await import('./commands/import-agents.ts')).importAgentsCommand));
  writing('remove <name>', 'removes an agent from the settings').action(
    actionOf(async () => (await import('./commands/agents.ts')).removeAgentCommand),
  );
}

function addProbe(add: Add, actionOf: ActionOf): void {
  refuseToken(add('probe <url>', 'tests an A2A agent with real tasks, and prints a report for its authors'))
    .option('--text <text>', 'a task of about a second that should complete', PROBE_TEXT)
    .addOption(
      new Option('--a2a <version>', 'the A2A version; default: the newest on the card').choices([
        '1.0',
        '0.3',
      ]),
    )
    .option('--card-url <url>', 'the URL of its card, if it is not below the URL of the agent')
    .option('--token-variable <name>', TOKEN_VARIABLE)
    .option('--token-command <command>', 'a command that prints its token')
    .option(
      '--restart <command>',
      'a shell command that kills the agent, and starts it again; without it, three checks do not run',
    )
    .option('--yes', 'start without asking')
    .action(actionOf(async () => (await import('./commands/probe.ts')).probeCommand));
}

function addModel(add: Add, actionOf: ActionOf): void {
  const model = addGroup(
    add,
    'model',
    'shows the models of the local server; list them, or set another',
    actionOf(async () => (await import('./commands/show-models.ts')).showModelCommand),
  );
  add('list [words...]', 'lists known models, and the models that this machine serves', {
    into: model,
  }).action(actionOf(async () => (await import('./commands/show-models.ts')).listModelsCommand));
  add('set <model>', 'tries a model, e.g. anthropic:claude-sonnet-4-5, and restarts the server with it', {
    into: model,
  })
    .option('--tier <tier>', 'fast or smart; default: the default model')
    .option(
      '--key-command <command>',
      'a command that prints the key of the provider, e.g. "pass show anthropic"',
    )
    .option('--key-variable <name>', 'the environment variable with the key, if not the usual one')
    .option('--base-url <url>', 'the URL of the provider, e.g. http://127.0.0.1:1234/v1')
    .option('--no-try', 'send no request to the model')
    .action(actionOf(async () => (await import('./commands/set-model.ts')).setModelCommand));
}

function addTasks(add: Add, actionOf: ActionOf): void {
  add('tasks', 'lists the sessions of every agent: waiting ones first, then the newest')
    .option('--agent <name>', 'only this agent')
    .option('--state <state>', 'only in this state, e.g. input-required')
    .option('--limit <number>', 'the maximum number; default 50')
    .action(actionOf(async () => (await import('./commands/tasks.ts')).tasksCommand));
  add(
    'inbox',
    'lists finished tasks whose result no client has collected, and tasks that wait for a person',
    {
      json: 'print one JSON object; with --watch, one on each line: an entry, or the error',
    },
  )
    .option('--watch', 'also print each new entry, until Ctrl-C')
    .option('--bell', 'ring the terminal bell for each new entry')
    .option('--collect', 'then mark the listed results as collected; no bridge announces them any more')
    .action(actionOf(async () => (await import('./commands/inbox.ts')).inboxCommand));
  add('run <words...>', 'hands a task to an agent, follows it, and asks here for each decision')
    .option('--agent <name>', 'the agent; default the first')
    .option('--mode <mode>', 'ask, plan, accept-edits or auto; the last two need a terminal; default ask')
    .option('--file <path...>', 'send these images, PDFs or texts with the task; write it after the words')
    .option('--detach', 'print the session and return')
    .action(actionOf(async () => (await import('./commands/run.ts')).runTask));
  add('watch <session>', "follows a session's task until it has ended", {
    json: 'print one JSON object on each line: an event, or the error',
  })
    .option('--from <seq>', 'begin after the event with this number; 0 shows all events')
    .option('--until-settled', 'also end when the task waits for a person')
    .option('--times', 'begin each line with the time of its event (UTC)')
    .option('--thinking', "also print the model's reasoning")
    .action(actionOf(async () => (await import('./commands/watch.ts')).watchCommand));
  add('show <what>', 'shows pending actions in full: one by its code or call, or all of a session')
    .option('--turns', "also show the cost of each turn of the session's task")
    .action(actionOf(async () => (await import('./commands/show.ts')).showCommand));
  add('cost', 'shows what tasks cost: tokens and US dollars by UTC day, by session and by model')
    .option('--agent <name>', 'only this agent; default all')
    .option('--days <number>', 'today and the days before; default 30')
    .action(actionOf(async () => (await import('./commands/cost.ts')).costCommand));
  add(
    'receipt <session>',
    'prints the signed receipt of the newest task: who asked, saw, decided, and what ran',
  )
    .option('--out <directory>', 'write the receipts of all tasks of the session here, as Markdown and JSON')
    .action(actionOf(async () => (await import('./commands/receipt.ts')).receiptCommand));
  add(
    'verify-receipt <file>',
    'checks the signature of a receipt, and compares it with the journal of its agent',
  )
    .option('--key <fingerprint>', 'the key that must have signed it; default: the key of a known agent')
    .action(actionOf(async () => (await import('./commands/verify-receipt.ts')).verifyReceiptCommand));
  add('cancel <session>', "ends the session's task")
    .option('--reason <text>', 'the reason, for the agent and the journal')
    .action(actionOf(async () => (await import('./commands/cancel.ts')).cancelCommand));
  add('commands', 'lists the commands of an agent')
    .option('--agent <name>', 'the agent; default the first')
    .action(actionOf(async () => (await import('./commands/list-agent-commands.ts')).listAgentCommands));
  add('command <name> [args...]', 'runs a command of the agent, e.g. checkpoint list')
    .option('--agent <name>', 'the agent; default the first')
    .option('--session <session>', 'the session; default a new one')
    .action(actionOf(async () => (await import('./commands/run-agent-command.ts')).runAgentCommand));
  add('abort <toolId>', 'stops one running tool; its task continues')
    .option('--agent <name>', 'ask only this agent')
    .option('--reason <text>', 'the reason, for the agent and the journal')
    .action(actionOf(async () => (await import('./commands/abort-tool.ts')).abortCommand));
}

function addDecisions(add: Add, actionOf: ActionOf): void {
  const deciding = (usage: string, description: string): Command =>
    add(usage, description).option('--reason <text>', 'the reason, for the agent and the journal');
  for (const word of ['approve', 'deny'] as const) {
    const it = deciding(
      `${word} <code> [call]`,
      word === 'approve'
        ? 'approves the action with this code; with a session id, shows the action and asks'
        : 'denies the action with this code; with a session id, shows the action and asks',
    ).option('--all', 'with a session: all its pending actions');
    if (word === 'approve')
      it.option(
        '--scope <scope>',
        'once (default); or also trust later calls: tool (of this tool), server (of its server), always (all)',
      )
        .option('--minutes <number>', 'with a scope: trust for this many minutes, not for the whole task')
        .option('--uses <number>', 'with a scope: trust for this many later calls');
    it.action(
      actionOf(async () => {
        const { decideCommand } = await import('./commands/decide.ts');
        return (run, what: string, call?: string) => decideCommand(run, word, { what, call });
      }),
    );
  }
  deciding('edit <code> [call]', 'opens $EDITOR on the action, and approves your edited version')
    .option('--yes', 'with a code: send the edited text without asking')
    .option('--file <path>', 'read the edited text from this file; - is stdin')
    .action(actionOf(async () => (await import('./commands/edit.ts')).editCommand));
  add('revoke <session> [grants...]', 'revokes grants of trust; without a grant, lists them')
    .option('--all', 'all grants of the session')
    .action(actionOf(async () => (await import('./commands/revoke-trust.ts')).revokeTrustCommand));
  add('answer <code> [words...]', 'answers the question with this code; without words, it asks you')
    .option('--call <call>', 'with a session instead of the code: the question, if several wait')
    .action(actionOf(async () => (await import('./commands/answer.ts')).answerCommand));
}

function addServer(program: Command, add: Add, actionOf: ActionOf): void {
  const server = program
    .command('server')
    .description('the local a2a-server: start, stop, status; backup, verify, restore its tasks');
  add('start', 'starts it, unless it runs', { into: server }).action(
    actionOf(async () => (await import('./commands/server.ts')).startServerCommand),
  );
  add('stop', 'ends it; its tasks go on with the next one', { into: server }).action(
    actionOf(async () => (await import('./commands/server.ts')).stopServerCommand),
  );
  add('status', 'shows whether it runs, its address and its start time', { into: server }).action(
    actionOf(async () => (await import('./commands/server.ts')).serverStatusCommand),
  );
  const ofServer = (usage: string, description: string): Command =>
    add(usage, description, { into: server }).action(
      actionOf(async (it) => {
        const { serverJournalCommand } = await import('./commands/server-journal.ts');
        return (run) => serverJournalCommand(run, it.name(), it.args);
      }),
    );
  ofServer('backup <file>', 'writes all its tasks, without the token, to a new file; the server may run');
  ofServer('verify [file]', 'checks every task of its journal, or of a backup').option(
    '--accept-loss',
    'let it start without the tasks that are missing',
  );
  ofServer(
    'restore <file>',
    'puts the tasks of a backup into the state directory; the server must not run',
  ).option('--replace', 'move the existing journal away first');
  add(
    'page',
    'prints a one-time link that signs your browser in to the approval page; if the agent is the local server, starts it when needed',
  )
    .option('--agent <name>', 'the agent whose page to open; default the first')
    .action(actionOf(async () => (await import('./commands/page.ts')).pageCommand));
  add('logs', 'prints the log of the local server', {
    json: 'print one JSON object on each line: a line of the log, or the error',
  })
    .option('-f, --follow', 'also print new lines')
    .option('-n, --lines <number>', 'the number of last lines; default 50')
    .action(actionOf(async () => (await import('./commands/logs.ts')).logsCommand));
}
