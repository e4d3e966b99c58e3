/**
 * Implements the offline model, which is the default. The model understands a few fixed sentences and JSON plans. It
 * needs no network and no key, and costs nothing (docs/offline-model.md).
 */
import type { TurnEnd } from '../../task/events.ts';
import { NO_USAGE, type Model } from '../model.ts';
import { nextOfflineTurn, type OfflineTurn, type SayStep } from './next-turn.ts';
import { MESSAGE_FORMS } from './parse-offline-message.ts';

/** How a person chooses a language model. */
export interface ModelChoice {
  /**
   * The start of a command line that chooses a model, e.g. `mcp-a2a-bridge model set`. It is for a terminal on this
   * machine.
   */
  command: string;
  /** Returns sentences with the command. Called only for a message that the model does not understand. */
  advise: () => Promise<string>;
}

const GENERAL_CHOICE: ModelChoice = {
  command: 'mcp-a2a-bridge model set',
  advise: () =>
    Promise.resolve(
      'To choose a model, run in a terminal: mcp-a2a-bridge model set <provider>:<model> (docs/models.md).',
    ),
};

export function createOfflineModel(id: string, { command, advise }: ModelChoice = GENERAL_CHOICE): Model {
  return {
    id,
    async *stream({ conversation, tools, signal }) {
      const turn = nextOfflineTurn(conversation, new Set(tools.map(({ name }) => name)));
      if (turn.type === 'rejected') {
        const message = refusalText(turn.refused, await advise());
        yield { type: 'finish', end: { type: 'rejected', message }, usage: NO_USAGE };
        return;
      }
      const said: SayStep[] = [];
      for (const each of turn.said)
        said.push('refused' in each ? { text: refusalText(each.refused, await advise()) } : each);
      for (const text of textDeltas(said)) {
        signal.throwIfAborted();
        yield { type: 'text', text };
      }
      if (turn.type === 'calls')
        for (const [index, call] of turn.calls.entries())
          yield { type: 'call', modelCallId: `call-${index + 1}`, tool: call.tool, input: call.input };
      yield { type: 'finish', end: endOf(turn, command), usage: NO_USAGE };
    },
  };
}

/**
 * Returns the note for the end of the task: no language model is in use. Without this note, a person could believe that
 * a language model understood the message.
 */
function noModelText(command: string): string {
  return `No language model is configured: the offline model understands only a few fixed sentences. To choose a model, run in a terminal: ${command} <provider>:<model>`;
}

function endOf(turn: Exclude<OfflineTurn, { type: 'rejected' }>, command: string): TurnEnd {
  if (turn.type === 'calls') return 'tool-calls';
  return turn.byForm ? { type: 'completed', message: noModelText(command) } : 'stop';
}

/** Streams text word by word. With `repeat`, streams exactly `repeat` chunks. */
function* textDeltas(said: readonly SayStep[]): Generator<string> {
  for (const [at, { text, repeat }] of said.entries()) {
    if (at > 0) yield '\n\n';
    if (repeat === undefined) for (const [word] of text.matchAll(/\s+|\S{1,200}\s?/gu)) yield word;
    else for (let chunk = 0; chunk < repeat; chunk += 1) yield text;
  }
}

function refusalText(why: string, advice: string): string {
  return [
    `No model is configured, so the agent does not understand this message: ${why}.`,
    advice,
    `Without a model, one message is one of: ${MESSAGE_FORMS.map(({ form }) => form).join(' · ')} · a JSON plan (docs/offline-model.md).`,
  ].join('\n');
}
