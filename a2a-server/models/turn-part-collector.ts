/** Collects the parts of a turn in the model's order, with the data that its provider needs in later requests. */
import type { SharedV3ProviderMetadata } from '@ai-sdk/provider';
import type { JsonObject, TurnPart } from '../task/turn-replay.ts';
import { mergeProviderData, type ProviderData } from './provider-data.ts';

interface Collected {
  type: TurnPart['type'];
  length: number;
  metadata: ProviderData | undefined;
}

/** Collects the parts of one turn. Each turn needs a new object. */
export class TurnPartCollector {
  readonly #parts: Collected[] = [];
  /** Maps the id of a block to its part. */
  readonly #blocks = new Map<string, Collected>();

  /** Adds a call of the model. */
  call(metadata: SharedV3ProviderMetadata | undefined): void {
    this.#parts.push({ type: 'call', length: 0, metadata });
  }

  /** Adds the start, a piece or the end of a block. */
  block(
    type: 'text' | 'reasoning',
    part: { id: string; delta?: string; providerMetadata?: SharedV3ProviderMetadata },
  ): void {
    const key = `${type} ${part.id}`;
    const { delta = '' } = part;
    let block = this.#blocks.get(key);
    // The turn's text is one string, so a part must be one continuous piece of it.
    const interrupted = delta !== '' && block !== this.#parts.findLast((each) => each.type === type);
    if (block === undefined || interrupted) {
      const metadata = block?.metadata;
      if (block !== undefined) block.metadata = undefined;
      block = { type, length: 0, metadata };
      this.#parts.push(block);
      this.#blocks.set(key, block);
    }
    block.length += delta.length;
    // The signature of a block comes after its text, so later values replace earlier ones.
    block.metadata = mergeProviderData(block.metadata, part.providerMetadata);
  }

  /** @returns undefined if the turn consists only of text and calls */
  result(): TurnPart[] | undefined {
    const parts = this.#parts.map(turnPart);
    return parts.some((part) => part.type === 'reasoning' || part.state !== undefined) ? parts : undefined;
  }
}

function turnPart({ type, length, metadata }: Collected): TurnPart {
  // Convert to JSON and back, as the journal does, so that the values are the same before and after a restart.
  const state: Record<string, JsonObject> = JSON.parse(JSON.stringify(metadata ?? {}));
  const kept = Object.keys(state).length === 0 ? {} : { state };
  return type === 'call' ? { type, ...kept } : { type, length, ...kept };
}
