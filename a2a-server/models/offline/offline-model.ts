/**
 * The offline model, which is the default. It is a program that follows a few fixed forms and JSON plans. It needs no
 * network and no key, and costs nothing (docs/offline-model.md).
 */
import type { TurnEnd } from '../../task/events.ts';
import type { Model, ModelEvent } from '../model.ts';
import { nextTurn, type NextTurn, type SayStep } from './next-turn.ts';

const NO_USAGE = { inputTokens: 0, outputTokens: 0 };

/** @param id the name of the model in each turn */
export function offlineModel(id: string): Model {
  return {
    id,
    async *stream({ conversation, tools, signal }) {
      const turn = nextTurn(conversation, new Set(tools.map(({ name }) => name)));
      for (const text of turn.type === 'rejected' ? [] : deltas(turn.said)) {
        signal.throwIfAborted();
        yield { type: 'text', text };
      }
      yield* calls(turn);
      yield { type: 'finish', end: endOf(turn), usage: NO_USAGE };
    },
  };
}

/** Streams text word by word. Streams a repeated text in exactly `repeat` chunks. */
function* deltas(said: readonly SayStep[]): Generator<string> {
  for (const [at, { text, repeat }] of said.entries()) {
    if (at > 0) yield '\n\n';
    if (repeat === undefined) for (const [word] of text.matchAll(/\s+|\S{1,200}\s?/gu)) yield word;
    else for (let chunk = 0; chunk < repeat; chunk += 1) yield text;
  }
}

function* calls(turn: NextTurn): Generator<ModelEvent> {
  if (turn.type !== 'calls') return;
  for (const [index, { tool, input }] of turn.calls.entries())
    yield { type: 'call', modelCallId: `call-${index + 1}`, tool, input };
}

function endOf(turn: NextTurn): TurnEnd {
  switch (turn.type) {
    case 'calls':
      return 'tool-calls';
    case 'end':
      return 'stop';
    case 'rejected':
      return { type: 'rejected', message: turn.message };
  }
}
