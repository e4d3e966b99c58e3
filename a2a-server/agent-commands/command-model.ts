/**
 * Runs a command as a model. The first turn answers or requests a tool call. The second turn reports the result. So
 * approval, journal, abort and restart work as with any model.
 */
import { ProductError } from '../../shared/runtime/errors.ts';
import { NO_USAGE, type Model, type ModelEvent } from '../models/model.ts';
import { resultForModel } from '../task/result-for-model.ts';
import type { TurnEnd } from '../task/events.ts';
import type { Call } from '../task/snapshot.ts';
import type { AgentCommandFirstStep } from './agent-command.ts';

interface CommandTurn {
  begin: (signal: AbortSignal) => Promise<AgentCommandFirstStep>;
  /** The settled tool calls of the first turn. Empty during the first turn. */
  calls: readonly Call[];
}

export function createAgentCommandModel({ begin, calls }: CommandTurn): Model {
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
