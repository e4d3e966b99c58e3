/**
 * Collects the parts of one turn in the model's order. Each part includes the data that its provider needs in later
 * requests.
 */
import type { SharedV3ProviderMetadata } from '@ai-sdk/provider';
import type { JsonObject, TurnPart } from '../task/replay-provider-data.ts';
import { mergeProviderData, type ProviderData } from './provider-data.ts';

interface CollectedPart {
  type: TurnPart['type'];
  length: number;
  metadata: ProviderData | undefined;
}

export class TurnPartCollector {
  readonly #parts: CollectedPart[] = [];
  readonly #blocks = new Map<string, CollectedPart>();

  call(metadata: SharedV3ProviderMetadata | undefined): void {
    this.#parts.push({ type: 'call', length: 0, metadata });
  }

  block(
    type: 'text' | 'reasoning',
    part: { id: string; delta?: string; providerMetadata?: SharedV3ProviderMetadata },
  ): void {
    const key = `${type} ${part.id}`;
    const { delta = '' } = part;
    let block = this.#blocks.get(key);
    // The text of a turn is one string. A part must be one continuous piece of that string. So a block continues as a
    // new part if another block of its type comes in between.
    const interrupted = delta !== '' && block !== this.#parts.findLast((each) => each.type === type);
    if (block === undefined || interrupted) {
      const metadata = block?.metadata;
      if (block !== undefined) block.metadata = undefined;
      block = { type, length: 0, metadata };
      this.#parts.push(block);
      this.#blocks.set(key, block);
    }
    block.length += delta.length;
    // The signature of a block follows its text. Later values therefore replace earlier values.
    block.metadata = mergeProviderData(block.metadata, part.providerMetadata);
  }

  /**
   * Returns the parts. Returns undefined if the turn has only text and calls, because the journal has these already.
   */
  result(): TurnPart[] | undefined {
    const parts = this.#parts.map(turnPart);
    return parts.some((part) => part.type === 'reasoning' || part.state !== undefined) ? parts : undefined;
  }
}

function turnPart({ type, length, metadata }: CollectedPart): TurnPart {
  // The journal stores JSON. This conversion to JSON makes the values the same before and after a restart.
  const state: Record<string, JsonObject> = JSON.parse(JSON.stringify(metadata ?? {}));
  const kept = Object.keys(state).length === 0 ? {} : { state };
  return type === 'call' ? { type, ...kept } : { type, length, ...kept };
}
