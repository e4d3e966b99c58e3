/**
 * A command in the place of the model: its first turn asks for what is to be done, its second tells what came of it. What
 * lies between is the executor's, as with any model: approval, journal, abort, restart.
 */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { Model, ModelEvent } from '../models/model.ts';
import { resultOf } from '../task/call-result.ts';
import type { TurnEnd } from '../task/events.ts';
import type { Call } from '../task/snapshot.ts';
import type { FirstStep } from './agent-command.ts';

/** Recorded with each turn, in the place of a model's name. */
const COMMAND = 'command';

const NO_USAGE = { inputTokens: 0, outputTokens: 0 };

export interface Carrying {
  begin: (signal: AbortSignal) => Promise<FirstStep>;
  /** What its first turn asked for, settled; none before it. */
  calls: readonly Call[];
}

export function commandModel({ begin, calls }: Carrying): Model {
  return {
    id: COMMAND,
    async *stream({ signal }) {
      const end = calls.length > 0 ? yield* told(calls) : yield* begun(begin, signal);
      yield { type: 'finish', end, usage: NO_USAGE };
    },
  };
}

async function* begun(
  begin: Carrying['begin'],
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
    // What cannot be done is the task's end, in these words; what the disk refuses is tried again.
    if (!(error instanceof ProductError) || error.reason === 'STORAGE') throw error;
    return { type: 'failed', message: error.message };
  }
}

function* told(calls: readonly Call[]): Generator<ModelEvent, TurnEnd, undefined> {
  const results = calls.map((call) => ({ ...resultOf(call), denied: isDenied(call) }));
  const text = results.map((result) => result.text).join('\n');
  // A person's no is an answer, not a failure.
  if (results.some(({ isError, denied }) => isError && !denied)) return { type: 'failed', message: text };
  yield { type: 'text', text };
  return 'stop';
}

function isDenied({ state }: Call): boolean {
  return state.type === 'settled' && (state.result.type === 'denied' || state.result.type === 'skipped');
}
