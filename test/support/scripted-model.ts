/** A model that plays turns written by the test and records its requests. */
import type { Model, ModelEvent, ModelRequest, Models } from '../../a2a-server/models/model.ts';

import type { Price } from '../../a2a-server/task/spending.ts';

export interface ScriptedTurn {
  text?: string;
  calls?: { tool: string; input: Record<string, unknown> }[];
  /** Awaited before the turn ends. */
  until?: Promise<unknown>;
}

export class ScriptedModel implements Models, Model {
  readonly id = 'scripted';
  readonly requests: ModelRequest[] = [];
  readonly price?: Price;
  readonly #turns: ScriptedTurn[];
  #calls = 0;

  constructor(turns: ScriptedTurn[], { price }: { price?: Price } = {}) {
    this.#turns = [...turns];
    if (price) this.price = price;
  }

  /** Adds turns after the existing ones. */
  add(...turns: ScriptedTurn[]): void {
    this.#turns.push(...turns);
  }

  resolve(): Model {
    return this;
  }

  list(): string[] {
    return [this.id];
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
    this.requests.push(request);
    const { text = '', calls = [], until } = this.#turns.shift() ?? { text: 'Done.' };
    if (text !== '') yield { type: 'text', text };
    for (const call of calls) yield { type: 'call', modelCallId: `m${(this.#calls += 1)}`, ...call };
    await until;
    yield {
      type: 'finish',
      end: calls.length > 0 ? 'tool-calls' : 'stop',
      usage: { inputTokens: 1, outputTokens: 1 },
    };
  }
}
