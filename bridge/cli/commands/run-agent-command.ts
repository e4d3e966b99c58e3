/** The command `command`: runs a command of an agent, and prints the result or the pending actions. */
import { agentCommandText, type CommandCall } from '../../../shared/protocol/agent-command.ts';
import { visibleText } from '../../../shared/text/visible-text.ts';
import type { Agent } from '../../agents/agent.ts';
import { fetchAgentCommands } from '../../agents/agent-commands.ts';
import type { Session } from '../../sessions/session/session.ts';
import { hasEnded } from '../../sessions/session/observed-task.ts';
import { waitForSession } from '../../sessions/wait-for-session.ts';
import { withMappedWorkspace, withDefaultWorkspace } from '../../mcp/tools/settings-for-agent.ts';
import { printTaskOutcome } from '../context/print-task-outcome.ts';
import type { CommandSessions } from '../context/command-sessions.ts';
import { EXIT_TASK_FAILED } from '../terminal/exit-codes.ts';
import { resolveSession } from '../decisions/resolve-id.ts';
import type { CommandRun } from '../context/run-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

const WAIT_SECONDS = 100;

interface CommandOptions {
  agent?: string;
  session?: string;
}

/**
 * Runs the command, prints the outcome, and returns the exit code.
 * @throws ProductError UNKNOWN_COMMAND, SESSION_BUSY, or the error of the agent
 */
export async function runAgentCommand(
  run: CommandRun<CommandOptions>,
  command: string,
  args: string[],
): Promise<number> {
  const call = { command, args };
  const { options } = run;
  const context = await run.openSessions();
  const going =
    options.session === undefined ? undefined : await resolveSession(context.sessions, options.session);
  const agent = going?.agent ?? context.registry.pick(options.agent);
  await fetchAgentCommands(agent);
  const { dialect } = await agent.connect();
  const code =
    dialect.name === 'gemini'
      ? await runCommandOutsideTasks(run.terminal, agent, call)
      : printTaskOutcome(run.terminal, await runCommandAsTask(run, { context, agent, going }, call));
  return code;
}

/** Runs the command on an agent that runs commands outside of tasks, without approval (gemini-cli). */
async function runCommandOutsideTasks(terminal: Terminal, agent: Agent, call: CommandCall): Promise<number> {
  const connection = await agent.connect();
  const answer = await connection.execute(call).catch((error: unknown) => {
    throw agent.failed(error);
  });
  const text = answer?.text ?? '';
  const failed = answer?.failed === true;
  terminal.json({ agent: agent.name, output: text, failed });
  terminal.say(visibleText(text));
  return failed ? EXIT_TASK_FAILED : 0;
}

async function runCommandAsTask(
  { settings }: CommandRun<CommandOptions>,
  { context, agent, going }: { context: CommandSessions; agent: Agent; going: Session | undefined },
  call: CommandCall,
): Promise<Session> {
  const text = agentCommandText(call);
  const { session, delivery, messageId } =
    going === undefined
      ? await context.delegations.start(agent, {
          text,
          command: call,
          settings: await withDefaultWorkspace(agent, {}, settings.workspace),
        })
      : await context.delegations.continueSession(going, {
          text,
          command: call,
          settings: withMappedWorkspace(agent, {}),
        });
  await waitForSession({
    session,
    delivery,
    timeout: (settings.waitSeconds ?? WAIT_SECONDS) * 1000,
  });
  // The person sees the answer here. So the delegation counts as answered: a later tool call with the same text starts
  // a new task, and does not get this answer.
  if (session.view !== undefined) context.delegations.recordReplyReceived(messageId);
  // The person sees the result here, so the inbox does not announce it.
  if (session.view !== undefined && hasEnded(session.view)) context.delegations.collect(session);
  return session;
}
