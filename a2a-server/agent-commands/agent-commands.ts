import { ProductError } from '../../shared/runtime/errors.ts';
import {
  agentCommandText,
  agentCommandUsage,
  type CommandCall,
  type OfferedCommand,
} from '../../shared/protocol/agent-command.ts';
import { type Model, NO_USAGE, type ModelEvent } from '../models/model.ts';
import type { UserMessage, TurnEnd } from '../task/events.ts';
import { callsOfTurn, trailingTurn, type Snapshot, type Call } from '../task/snapshot.ts';
import type { Workspace } from '../tools/workspace/workspace.ts';
import type { AgentCommand, AgentCommandFirstStep } from './agent-command.ts';
import { resultForModel } from '../task/result-for-model.ts';

export interface AgentCommands {
  readonly offered: readonly OfferedCommand[];
  /**
   * Returns the message that the task records. If the command has a prompt, the message contains the prompt instead of
   * the command.
   * @throws ProductError UNKNOWN_COMMAND, which lists the existing commands
   * @throws ProductError MALFORMED, which shows the usage
   */
  accept(message: UserMessage): UserMessage;
  /** Returns a model that runs the command in its task's turns. */
  model(call: CommandCall, at: { snapshot: Snapshot; workspace: Workspace }): Model;
}

export function createAgentCommands(commands: readonly AgentCommand[]): AgentCommands {
  return {
    offered: commands.map(({ name, description, arguments: args }) => ({
      name,
      description,
      arguments: args,
    })),
    accept(message) {
      if (message.command === undefined) return message;
      const { command, args } = findCommand(commands, message.command);
      if ('begin' in command) {
        command.check?.(args);
        return message;
      }
      const { command: _, ...rest } = message;
      return { ...rest, parts: [{ type: 'text', text: command.prompt }] };
    },
    model(call, { snapshot, workspace }) {
      const { principal } = snapshot;
      return createAgentCommandModel({
        async begin(signal) {
          const { command, args } = findCommand(commands, call);
          if ('begin' in command) return command.begin(args, { workspace, principal, signal });
          throw unknownCommandError(commands, call);
        },
        calls: callsOfTurn(snapshot, trailingTurn(snapshot)),
      });
    },
  };
}

/** Finds the command with the longest name that matches the first words. Returns the command and the other words. */
function findCommand(
  commands: readonly AgentCommand[],
  call: CommandCall,
): { command: AgentCommand; args: string[] } {
  const words = [...call.command.replace(/^\/+/, '').trim().split(/\s+/), ...call.args];
  const names = commands
    .flatMap((command) =>
      [command.name, ...(command.aliases ?? [])].map((name) => ({ command, name: name.split(' ') })),
    )
    .toSorted((a, b) => b.name.length - a.name.length);
  const fits = names.find(({ name }) => name.every((word, at) => words[at] === word));
  if (fits === undefined) throw unknownCommandError(commands, call);
  const { command } = fits;
  const args = words.slice(fits.name.length);
  const required = command.arguments.filter((it) => it.required).length;
  if (args.length < required || args.length > command.arguments.length)
    throw new ProductError('MALFORMED', `Usage: ${agentCommandUsage(command)}. ${command.description}`);
  return { command, args };
}

function unknownCommandError(commands: readonly AgentCommand[], call: CommandCall): ProductError {
  const names = commands.map(({ name }) => name).join(', ');
  // The text begins with a slash, which the names of the commands do not have.
  const asked = agentCommandText(call).slice(1, 201);
  return new ProductError(
    'UNKNOWN_COMMAND',
    `There is no command ${JSON.stringify(asked)}. The commands are: ${names}.`,
    { facts: { commands: names } },
  );
}

interface CommandTurn {
  begin: (signal: AbortSignal) => Promise<AgentCommandFirstStep>;
  /** The settled tool calls of the first turn. Empty during the first turn. */
  calls: readonly Call[];
}

/**
 * Runs a command as a model. The first turn answers or requests a tool call. The second turn reports the result. So
 * approval, journal, abort and restart work as with any model.
 */
function createAgentCommandModel({ begin, calls }: CommandTurn): Model {
  return {
    id: 'command',
    async *stream({ signal }) {
      const end = calls.length > 0 ? yield* toolResultEvents(calls) : yield* beginCommand(begin, signal);
      yield { type: 'finish', end, usage: NO_USAGE };
    },
  };
}

async function* beginCommand(
  begin: CommandTurn['begin'],
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, TurnEnd, undefined> {
  try {
    const beginning = await begin(signal);
    yield { type: 'text', text: beginning.text };
    if (beginning.type === 'answer') return 'stop';
    const { tool, input } = beginning;
    yield { type: 'call', modelCallId: 'call-1', tool, input };
    return 'tool-calls';
  } catch (error) {
    // The error message ends the task. A storage error is thrown, because the executor retries it.
    if (!(error instanceof ProductError) || error.reason === 'STORAGE') throw error;
    return { type: 'failed', message: error.message };
  }
}

function* toolResultEvents(calls: readonly Call[]): Generator<ModelEvent, TurnEnd, undefined> {
  const results = calls.map((call) => ({ ...resultForModel(call), denied: isDenied(call) }));
  const text = results.map((result) => result.text).join('\n');
  // If a person denies the tool call, the command has not failed.
  if (results.some(({ isError, denied }) => isError && !denied)) return { type: 'failed', message: text };
  yield { type: 'text', text };
  return 'stop';
}

function isDenied({ state }: Call): boolean {
  return state.type === 'settled' && (state.result.type === 'denied' || state.result.type === 'skipped');
}
