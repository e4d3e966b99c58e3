/**
 * Selects the data of earlier turns that a model gets back: its own reasoning, and data that only its provider
 * understands. Some providers refuse a tool call without its signature. Some refuse reasoning if the conversation
 * before it has changed. The model and the earlier conversation must therefore be the same. Pure.
 */
import type { RequestedCall } from './events.ts';
import type { Snapshot, Turn } from './snapshot.ts';

type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

/** Opaque data of a provider, e.g. signatures, encrypted reasoning or item ids. The key is the provider's namespace. */
export type ProviderReplayData = Readonly<Record<string, JsonObject>>;

/**
 * One part of a turn. The parts are in the model's order. A text part is the next `length` characters of the turn's
 * text. A reasoning part is the next `length` characters of its reasoning.
 */
export type TurnPart =
  | { type: 'text' | 'reasoning'; length: number; state?: ProviderReplayData }
  /** The turn's next tool call. `input` is the model's input, if it differs from the validated input. */
  | { type: 'call'; input?: JsonObject; state?: ProviderReplayData };

/**
 * The model's own data of a turn, for later requests to the same model. `basis` is a hash of the request's
 * instructions, tools and endpoint.
 */
export interface TurnReplayData {
  basis: string;
  parts: readonly TurnPart[];
}

/** The model that gets the conversation. `basis` is a hash of the request's instructions, tools and endpoint. */
export interface ReceivingModel {
  model: string;
  basis: string;
  /** The media types of the files that the model accepts. The default is none. */
  inputModes?: readonly string[] | undefined;
}

export type ReplayedPart =
  | { type: 'text' | 'reasoning'; text: string; state?: ProviderReplayData }
  | {
      type: 'call';
      modelCallId: string;
      tool: string;
      input: Record<string, unknown>;
      state?: ProviderReplayData;
    };

/**
 * Returns true if the next model request may contain the model's own data of this turn. The model, the instructions,
 * the tools and the endpoint must be the same. The conversation before the turn must not have been shortened.
 * @param later the session's tasks after the task of the turn
 */
export function isTurnReplayable(
  { model, turn, replay }: Turn,
  { snapshot, later, reader }: { snapshot: Snapshot; later: readonly Snapshot[]; reader: ReceivingModel },
): boolean {
  const { shortenedAt } = snapshot.context;
  return (
    replay !== undefined &&
    model === reader.model &&
    replay.basis === reader.basis &&
    (shortenedAt === null || turn > shortenedAt) &&
    later.every(({ context }) => context.shortenedAt === null)
  );
}

/**
 * Returns the parts of a turn with their content. White space without state is omitted, because providers refuse it.
 */
export function turnPartsForProvider(
  { text, reasoning = '', replay }: Turn,
  calls: readonly (RequestedCall & { originalInput: Record<string, unknown> | null })[],
): ReplayedPart[] {
  const rest = { text, reasoning };
  let next = 0;
  return (replay?.parts ?? []).flatMap((part): ReplayedPart[] => {
    const state = part.state && { state: part.state };
    if (part.type === 'call') {
      const call = calls[next];
      next += 1;
      if (call === undefined) return [];
      const { modelCallId, tool } = call;
      const input = part.input ?? call.originalInput ?? call.input;
      return [{ type: 'call', modelCallId, tool, input, ...state }];
    }
    const shown = rest[part.type].slice(0, part.length);
    rest[part.type] = rest[part.type].slice(part.length);
    return shown.trim() === '' && state === undefined ? [] : [{ type: part.type, text: shown, ...state }];
  });
}
