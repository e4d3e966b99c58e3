/**
 * Replays to a model the parts of its earlier turns that are neither text nor calls: its reasoning, and data that only
 * its provider understands. Some providers refuse a call without its signature. Some refuse reasoning if the
 * conversation before it has changed. So the replay needs the same model and an unchanged earlier conversation. Pure.
 */
import type { RequestedCall } from './events.ts';
import type { Snapshot, Turn } from './snapshot.ts';

export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;
export interface JsonObject {
  [key: string]: JsonValue;
}

/**
 * Opaque data of providers: signatures, encrypted reasoning, item ids, citations. The key is the provider's namespace.
 */
export type ProviderState = Readonly<Record<string, JsonObject>>;

/** A part of a turn, in the model's order. A text or reasoning part is the next `length` characters of the turn's text. */
export type TurnPart =
  | { type: 'text' | 'reasoning'; length: number; state?: ProviderState }
  /** The turn's next call. `input`: the model's input, if the checked input of the call differs from it. */
  | { type: 'call'; input?: JsonObject; state?: ProviderState };

/** `basis`: a hash of the instructions, the tools and the endpoint of the request. */
export interface TurnReplay {
  basis: string;
  parts: readonly TurnPart[];
}

/** The model that gets the conversation, and a hash of the instructions, the tools and the endpoint of the same request. */
export interface ConversationReader {
  model: string;
  basis: string;
  /** The media types of the files that the model takes. The default is none. */
  inputModes?: readonly string[] | undefined;
}

/** A part with its content. */
export type ReplayedPart =
  | { type: 'text' | 'reasoning'; text: string; state?: ProviderState }
  | {
      type: 'call';
      modelCallId: string;
      tool: string;
      input: Record<string, unknown>;
      state?: ProviderState;
    };

/**
 * True if the conversation before the turn has not changed since the model wrote the turn.
 * @param later the later tasks of the session
 */
export function isReplayable(
  { model, turn, replay }: Turn,
  { snapshot, later, reader }: { snapshot: Snapshot; later: readonly Snapshot[]; reader: ConversationReader },
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

/** Returns the parts of a turn with their content. Omits white space without state, because providers refuse it. */
export function replayedParts(
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
