/**
 * Encodes one model turn as the SSE frames of three providers, as their APIs document them: OpenAI's chat
 * completions, Anthropic's messages, Google's streamGenerateContent with `alt=sse`.
 */
interface ScriptedCall {
  id: string;
  name: string;
  /** The arguments as the model wrote them, valid JSON or not. */
  arguments: string;
}

export interface ScriptedTurn {
  text: string[];
  calls: ScriptedCall[];
  finish: 'stop' | 'length' | 'content-filter';
  /** The number of input tokens outside the cache. */
  inputTokens: number;
  outputTokens: number;
  /**
   * The numbers of input tokens that the provider read from the cache and wrote to it. Only Anthropic's frames contain
   * them.
   */
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
}

export type WireName = 'openai' | 'anthropic' | 'google';

/** @returns the SSE frames of a turn. Without its end frame, a turn is incomplete. */
export function framesOf(wire: WireName, turn: ScriptedTurn): string[] {
  return WIRES[wire](turn);
}

/** @returns the number of frames that make the turn complete; all later frames are optional */
export function framesUntilComplete(wire: WireName, frames: readonly string[]): number {
  const last = { openai: 'finish_reason":"', anthropic: 'message_stop', google: 'finishReason' }[wire];
  return frames.findIndex((frame) => frame.includes(last)) + 1;
}

const WIRES: Readonly<Record<WireName, (turn: ScriptedTurn) => string[]>> = { openai, anthropic, google };

function openai(turn: ScriptedTurn): string[] {
  const reasons = {
    stop: turn.calls.length > 0 ? 'tool_calls' : 'stop',
    length: 'length',
    'content-filter': 'content_filter',
  };
  return [
    openaiDelta({ role: 'assistant', content: '' }),
    ...turn.text.map((content) => openaiDelta({ content })),
    ...turn.calls.flatMap((call, index) => [
      openaiDelta({
        tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }],
      }),
      ...halves(call.arguments).map((half) =>
        openaiDelta({ tool_calls: [{ index, function: { arguments: half } }] }),
      ),
    ]),
    openaiDelta({}, reasons[turn.finish]),
    // With stream_options.include_usage: one more chunk, without choices.
    openaiChunk([], {
      prompt_tokens: turn.inputTokens,
      completion_tokens: turn.outputTokens,
      total_tokens: turn.inputTokens + turn.outputTokens,
    }),
    'data: [DONE]\n\n',
  ];
}

function openaiChunk(choices: unknown[], usage: unknown = null): string {
  const stamp = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'fake' };
  return data({ ...stamp, system_fingerprint: 'fp_1', choices, usage });
}

function openaiDelta(delta: unknown, finish: string | null = null): string {
  return openaiChunk([{ index: 0, delta, logprobs: null, finish_reason: finish }]);
}

function anthropic(turn: ScriptedTurn): string[] {
  const reasons = {
    stop: turn.calls.length > 0 ? 'tool_use' : 'end_turn',
    length: 'max_tokens',
    'content-filter': 'refusal',
  };
  const texts =
    turn.text.length === 0
      ? []
      : block(
          0,
          { type: 'text', text: '' },
          turn.text.map((text) => ({ type: 'text_delta', text })),
        );
  const offset = texts.length === 0 ? 0 : 1;
  return [
    event({
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'fake',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: {
          input_tokens: turn.inputTokens,
          cache_read_input_tokens: turn.cacheReadTokens ?? 0,
          cache_creation_input_tokens: turn.cacheWriteTokens ?? 0,
          output_tokens: 1,
        },
      },
    }),
    event({ type: 'ping' }),
    ...texts,
    ...turn.calls.flatMap((call, index) =>
      block(
        index + offset,
        { type: 'tool_use', id: call.id, name: call.name, input: {} },
        ['', ...halves(call.arguments)].map((half) => ({ type: 'input_json_delta', partial_json: half })),
      ),
    ),
    event({
      type: 'message_delta',
      delta: { stop_reason: reasons[turn.finish], stop_sequence: null },
      usage: { output_tokens: turn.outputTokens },
    }),
    event({ type: 'message_stop' }),
  ];
}

function event(value: { type: string } & Record<string, unknown>): string {
  return `event: ${value.type}\n${data(value)}`;
}

function block(index: number, start: unknown, deltas: unknown[]): string[] {
  return [
    event({ type: 'content_block_start', index, content_block: start }),
    ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
    event({ type: 'content_block_stop', index }),
  ];
}

function google(turn: ScriptedTurn): string[] {
  const reasons = { stop: 'STOP', length: 'MAX_TOKENS', 'content-filter': 'SAFETY' };
  const parts = [
    ...turn.text.map((text) => ({ text })),
    ...turn.calls.map((call) => ({
      functionCall: { name: call.name, args: JSON.parse(call.arguments) },
    })),
  ];
  const response = (part: unknown, last: boolean): string =>
    data({
      candidates: [
        {
          content: { role: 'model', parts: [part] },
          index: 0,
          ...(last && { finishReason: reasons[turn.finish] }),
        },
      ],
      usageMetadata: {
        promptTokenCount: turn.inputTokens,
        ...(last && { candidatesTokenCount: turn.outputTokens }),
        totalTokenCount: turn.inputTokens + (last ? turn.outputTokens : 0),
      },
      modelVersion: 'fake',
      responseId: 'response-1',
    });
  return [...parts.map((part) => response(part, false)), response({ text: '' }, true)];
}

function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}
