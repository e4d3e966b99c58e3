/** The command `run`: delegates a task, prints its events, and asks for each decision. */
import { dirname, resolve } from 'node:path';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { type TaskMode, taskModeSchema, type TaskSettings } from '../../../shared/protocol/tool-approval.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import {
  withDefaultWorkspace,
  unsupportedSettingsNotes,
  withDefaultTier,
} from '../../mcp/tools/settings-for-agent.ts';
import type { Attachments } from '../../sessions/attached-files.ts';
import type { Session } from '../../sessions/session/session.ts';
import { hasEnded, hasSettled, type TaskView } from '../../sessions/session/observed-task.ts';
import { isFirstAttempt } from '../../sessions/session/session-state.ts';
import { type WaitEndReason, waitForSession } from '../../sessions/wait-for-session.ts';
import { type CommandSessions, MAX_WAIT_MS } from '../context/command-sessions.ts';
import type { CommandRun } from '../context/run-command.ts';
import { printTaskOutcome } from '../context/print-task-outcome.ts';
import { promptAndSendDecision } from '../decisions/prompt-and-send-decision.ts';
import { actionText } from '../terminal/action-text.ts';
import { sessionWord } from '../terminal/short-ids.ts';
import { EXIT_TASK_WAITS, taskExitCode, UsageError } from '../terminal/exit-codes.ts';
import { howToAnswerText, howToDecideText } from '../terminal/how-to-decide.ts';
import { readChoiceOption } from '../terminal/option-value.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { inTerminalWords } from '../terminal/terminal-words.ts';
import { undeliveredText } from '../terminal/undelivered-text.ts';
import { TaskWatch } from '../watch/task-watch.ts';

interface RunOptions {
  agent?: string;
  mode?: string;
  detach?: boolean;
  file?: string[];
}

/** The maximum time in milliseconds for which `catchUp` waits. */
const MAX_CATCH_UP_MS = 5_000;

/**
 * Delegates a task, follows it, and asks the person for each decision.
 * @throws ProductError; UsageError
 */
export async function runTask(run: CommandRun<RunOptions>, words: readonly string[]): Promise<number> {
  const { options, terminal } = run;
  const mode = modeOf(run);
  const text = words.join(' ').trim();
  if (text === '') throw new UsageError('Tell the agent what to do: mcp-a2a-bridge run "…"');
  const attachments = await attachmentsIn(run);
  const context = await run.openSessions();
  const session = await delegateTask(run, context, {
    text,
    attachments,
    ...(mode === undefined ? {} : { mode }),
  });
  const hasNoTask = session.view?.taskId === '';
  let code: number;
  if (options.detach === true && !hasNoTask) code = reportStart(terminal, session);
  else if (terminal.printsJson || hasNoTask) {
    await waitForSession({ session, timeout: MAX_WAIT_MS });
    code = printTaskOutcome(terminal, session);
  } else code = await watchAndAsk(terminal, session);
  // The person has seen the result, so the inbox does not announce it.
  if (session.view !== undefined && hasEnded(session.view)) context.delegations.collect(session);
  return code;
}

function modeOf({ options, terminal }: CommandRun<RunOptions>): TaskMode | undefined {
  if (options.mode === undefined) return undefined;
  const mode = readChoiceOption('mode', options.mode, taskModeSchema.options);
  // A model may run this command without a terminal, and a model must not turn off the approvals of a task.
  if ((mode === 'auto' || mode === 'accept-edits') && !terminal.interactive)
    throw new UsageError(`The mode ${mode} runs tools without asking, so it needs a terminal.`);
  return mode;
}

/**
 * Reads the files of the option `--file`. A person at a terminal may name any file. Without a terminal, a model may run
 * this command. X2: a model must not reach files outside of the workspace, so the rules for tool calls then apply.
 * @throws ProductError if a file cannot be sent. Nothing is sent then.
 */
async function attachmentsIn({ options, settings, terminal }: CommandRun<RunOptions>): Promise<Attachments> {
  const { file: paths = [] } = options;
  if (paths.length === 0) return {};
  const { toAttachments, readAttachedFiles } = await import('../../sessions/attached-files.ts');
  const directory = settings.workspace;
  const files = await readAttachedFiles(paths, {
    directory,
    workspaces: { own: directory, listed: settings.allowWorkspace },
    stateDirectory: settings.stateDir,
    roots: async () => (terminal.interactive ? paths.map((path) => dirname(resolve(directory, path))) : []),
  });
  return toAttachments(files);
}

/**
 * Delegates the task, and returns the session as soon as the agent has sent the task id, or an answer without a task.
 * @throws ProductError; UsageError
 */
async function delegateTask(
  { options, settings, terminal }: CommandRun<RunOptions>,
  { registry, delegations }: CommandSessions,
  { text, attachments, ...wanted }: { text: string; attachments: Attachments } & TaskSettings,
): Promise<Session> {
  const agent = registry.pick(options.agent);
  const { deduplicates } = await agent.connect();
  if (options.detach === true && !deduplicates)
    throw new UsageError(`Agent "${agent.name}" may stop a task when its client goes. Omit --detach.`);
  const { session, delivery, messageId } = await delegations.start(agent, {
    text,
    settings: await withDefaultWorkspace(
      agent,
      await withDefaultTier(agent, wanted, 'fast'),
      settings.workspace,
    ),
    ...attachments,
  });
  for (const note of await unsupportedSettingsNotes(agent, wanted)) terminal.warn(note);
  const wait = (): Promise<WaitEndReason> => waitForSession({ session, delivery, timeout: 0 });
  let ended = await wait();
  // Some agents send nothing before their answer. If this command ended, the answer would be lost. So the command
  // continues to wait.
  while (options.detach !== true && ended === 'time' && isFirstAttempt(session.state)) ended = await wait();
  if (session.view === undefined || (session.view.taskId === '' && !hasEnded(session.view)))
    throw new ProductError(
      'AGENT_UNREACHABLE',
      inTerminalWords(
        undeliveredText(session.state, session.id) ??
          `Agent "${agent.name}" has not sent the id of the task yet.`,
      ),
      { facts: { sessionId: session.id } },
    );
  // The person sees the answer here. So the delegation counts as answered: a later tool call with the same text starts
  // a new task, and does not get this answer.
  delegations.recordReplyReceived(messageId);
  return session;
}

function reportStart(terminal: Terminal, session: Session): number {
  const { id, agent, view, stateName: state } = session;
  terminal.json({ sessionId: id, agent: agent.name, taskId: view?.taskId ?? null, state });
  terminal.say(visibleLine(id));
  terminal.explain(terminal.paint('gray', `Follow it with: mcp-a2a-bridge watch ${sessionWord(id)}`));
  return 0;
}

async function watchAndAsk(terminal: Terminal, session: Session): Promise<number> {
  const { agent, id } = session;
  const taskId = session.view?.taskId ?? '';
  terminal.explain(
    terminal.paint('bold', `Session ${visibleLine(id)} with ${agent.name}, task ${visibleLine(taskId)}`),
  );
  const { deduplicates: resumes } = await agent.connect();
  const after = resumes ? 0 : null;
  const pending = terminal.interactive ? 'in a prompt' : 'with commands';
  const task = new TaskWatch({ agent, taskId, terminal, after, pending });
  for (;;) {
    const view = await task.until(hasSettled);
    const goesOn =
      view !== undefined &&
      !hasEnded(view) &&
      terminal.interactive &&
      (await promptAndSendDecision(terminal, session, view)) === 'changed';
    if (goesOn) continue;
    task.end();
    await catchUp(session);
    if (view !== undefined && !hasEnded(view)) reportWaiting(terminal, id, view);
    return view === undefined ? EXIT_TASK_WAITS : taskExitCode(view);
  }
}

/**
 * Lets the session read the events that `TaskWatch` has already printed from another stream. Waits for at most
 * `MAX_CATCH_UP_MS`. A failed request is ignored, because the outcome is already printed.
 */
async function catchUp(session: Session): Promise<void> {
  await session.fetchTask().catch(() => undefined);
  await waitForSession({ session, timeout: MAX_CATCH_UP_MS });
}

function reportWaiting(terminal: Terminal, id: string, { pending, question }: TaskView): void {
  // Without a terminal, the output already has these commands below each action and question.
  if (terminal.interactive)
    for (const [at, action] of pending.entries()) {
      // D2: an action is printed before the command that decides it. The prompt has already shown the first action.
      if (at > 0) terminal.say(`\n${actionText(action, terminal)}`);
      terminal.explain(howToDecideText(action));
    }
  if (terminal.interactive && question !== null) terminal.explain(howToAnswerText(question));
  terminal.explain(`The task waits. Follow it with: mcp-a2a-bridge watch ${sessionWord(id)}`);
}
