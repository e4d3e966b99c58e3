/**
 * A model and tools under a fast-check scheduler. Every model chunk and every tool step is a scheduled task, so the
 * seed decides their order against commands. Effects are counted.
 */
import type fc from 'fast-check';
import { z } from 'zod';
import type { Model, ModelEvent, Models } from '../../a2a-server/models/model.ts';
import type { Tool } from '../../a2a-server/tools/tool.ts';

/** One model turn: text chunks, then calls. The tool `effect` counts its runs, and the tool `look` is read-only. */
export interface PlannedTurn {
  chunks: number;
  calls: ('effect' | 'look')[];
}

const numbered = z.object({ n: z.number() });

export class SteeredAgent {
  /** The number of runs of each call's effect, by call number. */
  readonly effects = new Map<number, number>();
  /** The version of the content that effects change. Other writers also change this content. */
  version = 1;
  /** The content that each effect found and changed, by call number. */
  readonly changed = new Map<number, string>();
  /** The number of started model turns. */
  turns = 0;
  #calls = 0;
  readonly #scheduler: fc.Scheduler;
  readonly #plan: readonly PlannedTurn[];

  constructor(scheduler: fc.Scheduler, plan: readonly PlannedTurn[]) {
    this.#scheduler = scheduler;
    this.#plan = plan;
  }

  get models(): Models {
    return { resolve: () => this.#model, list: () => ['steered'] };
  }

  get tools(): Tool[] {
    return [this.#tool('effect', 'files'), this.#tool('look', 'none')];
  }

  get #content(): string {
    return `version ${this.version}`;
  }

  #pause(what: string): Promise<unknown> {
    return this.#scheduler.schedule(Promise.resolve(), what);
  }

  readonly #model: Model = {
    id: 'steered',
    stream: () => this.#turn(this.#plan[this.turns++] ?? { chunks: 1, calls: [] }),
  };

  async *#turn({ chunks, calls }: PlannedTurn): AsyncGenerator<ModelEvent> {
    for (let i = 0; i < chunks; i += 1) {
      await this.#pause('model chunk');
      yield { type: 'text', text: `${i} ` };
    }
    for (const tool of calls) {
      const n = (this.#calls += 1);
      yield { type: 'call', modelCallId: `m${n}`, tool, input: { n } };
    }
    await this.#pause('model finish');
    yield {
      type: 'finish',
      end: calls.length > 0 ? 'tool-calls' : 'stop',
      usage: { inputTokens: 1, outputTokens: 1 },
    };
  }

  #tool(name: string, sideEffect: 'files' | 'none'): Tool {
    return {
      name,
      description: name,
      source: { type: 'built-in' },
      sideEffect,
      schema: numbered,
      timeoutMs: () => 60_000,
      title: () => name,
      show: async (input) => ({
        preview: { type: 'json', value: input },
        basis: sideEffect === 'files' ? this.#content : null,
      }),
      run: async (input, { signal, basis }) => {
        const { n } = numbered.parse(input);
        for (let i = 0; i < 4; i += 1) await this.#pause(`${name} ${n} begins`);
        if (signal.aborted) throw new Error('stopped before anything was done');
        if (sideEffect === 'files') {
          if (basis !== null && basis !== this.#content) throw new Error('it has changed since it was shown');
          this.effects.set(n, (this.effects.get(n) ?? 0) + 1);
          this.changed.set(n, this.#content);
        }
        await this.#pause(`${name} ${n} ends`);
        if (signal.aborted) throw new Error('stopped in the middle');
        return { text: `did ${n}`, summary: 'did it' };
      },
    };
  }
}
