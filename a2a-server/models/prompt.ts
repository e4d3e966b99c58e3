/** Converts a conversation to a prompt of the AI SDK (interface version 3). */
import type {
  LanguageModelV3CallOptions,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  SharedV3ProviderOptions,
} from '@ai-sdk/provider';
import type { ProviderState, ReplayedPart } from '../task/turn-replay.ts';
import type { ToolDeclaration } from '../tools/tool.ts';
import type { ConversationStep, ModelRequest } from './model.ts';
import { mergeProviderData } from './provider-data.ts';

/** The parts of a request in addition to the conversation. */
export interface ProviderRequest {
  temperature?: number;
  /** In tokens. */
  maxOutputTokens?: number;
  /** Provider options for each request. */
  options?: SharedV3ProviderOptions;
  /**
   * Options that make the model reason. A request omits them if its last turn has calls but no reasoning. Anthropic
   * refuses such a request (400), because a turn with calls must begin with its reasoning.
   */
  reasoningOptions?: SharedV3ProviderOptions;
  /** The mark for a message. The provider caches the prompt up to its end. Other providers cache without marks. */
  cachePoint?: SharedV3ProviderOptions;
}

/** Returns the call options of a request, without its abort signal. */
export function callOptions(
  request: Omit<ModelRequest, 'signal'>,
  { options: always, reasoningOptions, cachePoint, ...limits }: ProviderRequest = {},
): LanguageModelV3CallOptions {
  const prompt = promptOf(request);
  const options = lacksReasoning(request.conversation) ? always : mergeProviderData(always, reasoningOptions);
  return {
    prompt: cachePoint === undefined ? prompt : withCachePoints(prompt, cachePoint),
    ...(request.tools.length > 0 && { tools: request.tools.map(functionTool), toolChoice: { type: 'auto' } }),
    ...(options && { providerOptions: options }),
    ...limits,
    ...(request.maxOutputTokens !== undefined && { maxOutputTokens: request.maxOutputTokens }),
  };
}

/** True if the last turn has calls and its reasoning is lost. */
function lacksReasoning(conversation: readonly ConversationStep[]): boolean {
  const last = conversation.findLast(({ role }) => role === 'assistant');
  if (last?.role !== 'assistant' || last.calls.length === 0) return false;
  return last.parts?.some(({ type }) => type === 'reasoning') !== true;
}

function promptOf({ instructions, conversation }: Omit<ModelRequest, 'signal'>): LanguageModelV3Prompt {
  const system: LanguageModelV3Prompt =
    instructions === '' ? [] : [{ role: 'system', content: instructions }];
  return [...system, ...conversation.map(message)];
}

/**
 * Marks the instructions (the tools come before them), the end of the prompt, and the end of the previous request.
 * Anthropic searches a cached prefix only at a mark and in the 20 blocks before it. One turn may have more blocks.
 */
function withCachePoints(
  prompt: LanguageModelV3Prompt,
  cachePoint: SharedV3ProviderOptions,
): LanguageModelV3Prompt {
  const last = prompt.length - 1;
  const answered = prompt.findLastIndex(({ role }) => role === 'assistant');
  const previous = prompt.findLastIndex(({ role }, index) => index < answered && role !== 'assistant');
  return prompt.map((each, index) =>
    each.role === 'system' || index === last || index === previous
      ? { ...each, providerOptions: cachePoint }
      : each,
  );
}

function message(step: ConversationStep): LanguageModelV3Message {
  switch (step.role) {
    case 'user':
      return { role: 'user', content: [{ type: 'text', text: step.text }] };
    case 'assistant':
      if (step.parts !== undefined) return { role: 'assistant', content: step.parts.map(replayedPart) };
      return {
        role: 'assistant',
        content: [
          // Providers refuse an empty text block.
          ...(step.text === '' ? [] : [{ type: 'text' as const, text: step.text }]),
          ...step.calls.map((call) => ({
            type: 'tool-call' as const,
            toolCallId: call.modelCallId,
            toolName: call.tool,
            input: call.input,
          })),
        ],
      };
    case 'tool':
      return {
        role: 'tool',
        content: step.results.map((result) => ({
          type: 'tool-result' as const,
          toolCallId: result.modelCallId,
          toolName: result.tool,
          output: { type: result.isError ? ('error-text' as const) : ('text' as const), value: result.text },
        })),
      };
  }
}

type AssistantPart = Extract<LanguageModelV3Message, { role: 'assistant' }>['content'][number];

function replayedPart(part: ReplayedPart): AssistantPart {
  const options = part.state && { providerOptions: providerOptions(part.state) };
  return part.type === 'call'
    ? {
        type: 'tool-call',
        toolCallId: part.modelCallId,
        toolName: part.tool,
        input: part.input,
        ...options,
      }
    : { type: part.type, text: part.text, ...options };
}

/**
 * `@ai-sdk/openai-compatible` returns the signature of a Gemini model under the provider's name. But it sends a
 * signature only from the key `google`. So this renames the key.
 */
function providerOptions(state: ProviderState): SharedV3ProviderOptions {
  const signed = Object.values(state).find(({ thoughtSignature }) => thoughtSignature !== undefined);
  return signed === undefined || state['google'] !== undefined ? state : { ...state, google: signed };
}

function functionTool(tool: ToolDeclaration): NonNullable<LanguageModelV3CallOptions['tools']>[number] {
  return { type: 'function', name: tool.name, description: tool.description, inputSchema: tool.inputSchema };
}
