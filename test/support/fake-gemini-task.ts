/**
 * A task of gemini-cli's a2a-server as observed (0.25): its tool events, its handling of decisions, and its faults.
 */
import { randomUUID } from 'node:crypto';

/** A tool call that the model requests. */
export interface PlannedCall {
  callId: string;
  name: string;
  args: Record<string, unknown>;
  /**
   * The approval details, or a function that creates them at the time of the question. Without details, the tool runs
   * without approval.
   */
  details?: Record<string, unknown> | (() => Record<string, unknown>);
  /** Runs the tool. @returns the result that the agent shows */
  run?: (content: string | undefined, output: (text: string) => void) => Promise<string> | string;
}

/**
 * A step of the scripted model. After the calls of a step the model continues, unless the person cancelled all of them.
 */
export type Step =
  | { say: string }
  | { think: { subject: string; description: string } }
  | { cite: string }
  | { fail: string }
  | { calls: PlannedCall[] };

export type WireEvent = { kind: string; final?: boolean } & Record<string, unknown>;
type WirePart = {
  kind: string;
  text?: string | undefined;
  data?: Record<string, unknown> | undefined;
};
interface WireMessage {
  messageId: string;
  parts: WirePart[];
}

/** Behaviour of the real agent that differs between versions or runs. */
export interface GeminiOptions {
  /** True if a task loses the history of each turn at the end of that turn. */
  forgets: boolean;
}

interface Held {
  call: PlannedCall;
  settle: (status: 'success' | 'cancelled') => void;
}

export class GeminiTask {
  readonly id = randomUUID();
  readonly contextId: string;
  readonly settings: unknown;
  /** The callId of each tool run. A call that runs twice is here twice. */
  readonly runs: string[] = [];
  /** The accepted decisions. */
  readonly outcomes: Record<string, unknown>[] = [];
  readonly received: string[] = [];
  history: unknown[] = [];
  state = 'submitted';
  readonly #forgets: boolean;
  #message: unknown;
  #primary = false;
  #abort: (() => void) | undefined;
  readonly #held = new Map<string, Held>();
  readonly #listeners = new Set<(event: WireEvent) => void>();

  constructor(contextId: string, settings: unknown, ways: GeminiOptions) {
    this.#forgets = ways.forgets;
    this.contextId = contextId;
    this.settings = settings;
  }

  get autoExecute(): boolean {
    const { settings } = this;
    return (
      typeof settings === 'object' &&
      settings !== null &&
      'autoExecute' in settings &&
      settings.autoExecute === true
    );
  }

  listen(listener: (event: WireEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  toWire(historyLength: number): object {
    return {
      kind: 'task',
      id: this.id,
      contextId: this.contextId,
      status: { state: this.state, message: this.#message, timestamp: '2025-01-01T00:00:00.000Z' },
      history: historyLength === 0 ? [] : this.history.slice(-historyLength),
      artifacts: [],
      metadata: {},
    };
  }

  /** Called when the client closes the request that started the turn. */
  socketEnded(): void {
    this.#abort?.();
  }

  async accept(message: WireMessage, plan: (text: string) => Iterable<Step>): Promise<void> {
    this.history.push({
      kind: 'message',
      role: 'user',
      taskId: this.id,
      contextId: this.contextId,
      ...message,
    });
    const words = message.parts.map((part) => part.text ?? '').join('');
    if (words !== '') this.received.push(words);
    if (this.#primary) {
      for (const { data } of message.parts) if (data !== undefined) await this.#confirm(data);
      return;
    }
    this.#primary = true;
    let aborted = false;
    const abort = new Promise<'aborted'>((resolve) => {
      this.#abort = () => {
        aborted = true;
        resolve('aborted');
      };
    });
    const turn = this.#turn(plan(words), () => aborted);
    const how = await Promise.race([turn, abort]);
    this.#primary = false;
    this.#abort = undefined;
    if (how === 'aborted') this.#held.clear();
    if (this.state !== 'canceled')
      this.#change('input-required', true, how === 'aborted' ? 'Execution aborted by client.' : undefined);
    if (!this.#forgets) return;
    // Two writers save the task: the agent without its history, the protocol's handler with it. Which one saves last is
    // random.
    this.history = [];
    this.#message = undefined;
  }

  cancel(): void {
    this.#held.clear();
    this.#change('canceled', true, 'Task canceled by user request.');
  }

  async #turn(steps: Iterable<Step>, aborted: () => boolean): Promise<'ended'> {
    this.#change('working');
    for (const step of steps) {
      if (aborted()) return 'ended';
      if ('say' in step) for (const text of step.say.split(/(?<= )/)) this.#update('text-content', text);
      else if ('think' in step) this.#update('thought', undefined, step.think);
      else if ('cite' in step) this.#update('citation', step.cite);
      else if ('fail' in step) this.#change(this.state, false, step.fail, step.fail);
      else if (!(await this.#calls(step.calls))) return 'ended';
    }
    return 'ended';
  }

  /**
   * Runs the calls in order. After a denial, the agent drops the later calls without an event. @returns true if the
   * model gets the results: false if all calls were cancelled
   */
  async #calls(calls: readonly PlannedCall[]): Promise<boolean> {
    this.#change('working');
    for (const call of calls) this.#tell(call, 'validating');
    let ran = false;
    for (const call of calls) {
      if (call.details === undefined || this.autoExecute) {
        await this.#execute(call);
        ran = true;
        continue;
      }
      const settled = new Promise<string>((settle) => this.#held.set(call.callId, { call, settle }));
      const confirmationDetails = typeof call.details === 'function' ? call.details() : call.details;
      this.#tell(call, 'awaiting_approval', { confirmationDetails });
      this.#change('input-required', true);
      if ((await settled) === 'cancelled') break;
      ran = true;
    }
    if (ran) this.#change('working');
    return ran;
  }

  async #confirm(data: Record<string, unknown>): Promise<void> {
    const callId = String(data['callId']);
    const held = this.#held.get(callId);
    if (held === undefined) return;
    this.outcomes.push(data);
    const { call } = held;
    try {
      if (data['outcome'] === 'cancel') {
        this.#tell(call, 'cancelled', { response: { resultDisplay: '[Operation Cancelled]' } });
        held.settle('cancelled');
        return;
      }
      // After an inline edit, the call keeps waiting without an event. The agent removes its record of the call, so a
      // later decision cannot reach the call.
      if (typeof data['newContent'] === 'string' && data['newContent'] !== '') return;
      // If a second approval arrives during the first run, the agent runs the tool again.
      await this.#execute(call);
      held.settle('success');
    } finally {
      this.#held.delete(callId);
    }
  }

  async #execute(call: PlannedCall): Promise<void> {
    this.#tell(call, 'scheduled');
    this.#tell(call, 'executing');
    this.runs.push(call.callId);
    const resultDisplay = await call.run?.(contentOf(call), (text) => this.#output(call, text));
    this.#tell(call, 'success', { response: { resultDisplay: resultDisplay ?? 'done' } });
  }

  #tell({ callId, name, args }: PlannedCall, status: string, more: object = {}): void {
    const kind = status === 'awaiting_approval' ? 'tool-call-confirmation' : 'tool-call-update';
    this.#update(kind, undefined, { request: { callId, name, args }, status, ...more, tool: { name } });
  }

  #output({ callId }: PlannedCall, text: string): void {
    this.#publish({
      kind: 'artifact-update',
      taskId: this.id,
      contextId: this.contextId,
      artifact: { artifactId: `tool-${callId}-output`, parts: [{ kind: 'text', text }] },
      append: true,
      lastChunk: false,
    });
  }

  #change(state: string, final = false, text?: string, error?: string): void {
    this.state = state;
    this.#update('state-change', text, undefined, { final, ...(error === undefined ? {} : { error }) });
  }

  #update(
    kind: string,
    text?: string,
    data?: object,
    { final = false, error }: { final?: boolean; error?: string } = {},
  ): void {
    const parts = [
      ...(text === undefined ? [] : [{ kind: 'text', text }]),
      ...(data === undefined ? [] : [{ kind: 'data', data }]),
    ];
    const message =
      parts.length === 0
        ? undefined
        : {
            kind: 'message',
            role: 'agent',
            messageId: randomUUID(),
            taskId: this.id,
            contextId: this.contextId,
            parts,
          };
    if (message !== undefined) this.history.push(message);
    this.#message = message;
    this.#publish({
      kind: 'status-update',
      taskId: this.id,
      contextId: this.contextId,
      status: { state: this.state, message, timestamp: '2025-01-01T00:00:00.000Z' },
      final,
      metadata: { coderAgent: { kind }, model: 'gemini-x', ...(error === undefined ? {} : { error }) },
    });
  }

  #publish(event: WireEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

function contentOf({ args }: PlannedCall): string | undefined {
  return typeof args['content'] === 'string' ? args['content'] : undefined;
}
