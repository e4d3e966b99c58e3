/** Converts a conversation to a prompt of the AI SDK (interface version 3). */
import type {
  LanguageModelV3CallOptions,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  LanguageModelV3ToolResultOutput,
  SharedV3ProviderOptions,
} from '@ai-sdk/provider';
import type { ProviderReplayData, ReplayedPart } from '../task/replay-provider-data.ts';
import { MAX_TOOL_NAME_CHARS, type ToolDeclaration } from '../tools/tool.ts';
import type { ConversationToolResult } from '../task/conversation/conversation.ts';
import type { ConversationFile } from '../task/conversation/select-files-for-model.ts';
import type { ConversationStep, ModelRequest } from './model.ts';
import { mergeProviderData } from './provider-data.ts';

export interface ProviderRequestOptions {
  temperature?: number;
  maxOutputTokens?: number;
  options?: SharedV3ProviderOptions;
  /**
   * Options that make the model reason. They are omitted if the last turn has calls but no reasoning. Anthropic refuses
   * such a request (400), because a turn with calls must begin with its reasoning.
   */
  reasoningOptions?: SharedV3ProviderOptions;
  /** Marks the end of a prefix that Anthropic caches. Undefined for providers that cache without marks. */
  cachePoint?: SharedV3ProviderOptions;
  /**
   * True if a tool message accepts only text. The files of the results then follow in a user message. OpenAI's Chat
   * Completions: "For tool messages, only type text is supported."
   */
  filesAfterResults?: boolean;
}

/** Returns the call options of a request, without its abort signal. */
export function toCallOptions(
  request: Omit<ModelRequest, 'signal'>,
  {
    options: always,
    reasoningOptions,
    cachePoint,
    filesAfterResults,
    ...limits
  }: ProviderRequestOptions = {},
): LanguageModelV3CallOptions {
  const prompt = promptOf(request, filesAfterResults === true);
  const options = lacksReasoning(request.conversation) ? always : mergeProviderData(always, reasoningOptions);
  return {
    prompt: cachePoint === undefined ? prompt : withCachePoints(prompt, cachePoint),
    ...(request.tools.length > 0 && { tools: request.tools.map(functionTool), toolChoice: { type: 'auto' } }),
    ...(options && { providerOptions: options }),
    ...limits,
    ...(request.maxOutputTokens !== undefined && { maxOutputTokens: request.maxOutputTokens }),
  };
}

/** True if the last turn has calls but no longer has its reasoning. */
function lacksReasoning(conversation: readonly ConversationStep[]): boolean {
  const last = conversation.findLast(({ role }) => role === 'assistant');
  if (last?.role !== 'assistant' || last.calls.length === 0) return false;
  return last.parts?.some(({ type }) => type === 'reasoning') !== true;
}

function promptOf(
  { instructions, conversation, files = new Map() }: Omit<ModelRequest, 'signal'>,
  filesAfterResults: boolean,
): LanguageModelV3Prompt {
  const system: LanguageModelV3Prompt =
    instructions === '' ? [] : [{ role: 'system', content: instructions }];
  return [...system, ...conversation.flatMap((step) => messages(step, { files, filesAfterResults }))];
}

/**
 * Marks three cache points: the instructions, the end of the prompt, and the end of the previous request. The tools
 * come before the instructions, so the first mark includes them. Anthropic finds a cached prefix only at a mark or in
 * the 20 blocks before a mark. One turn can have more than 20 blocks.
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

/**
 * Replaces each unpaired surrogate by U+FFFD. A shortened output may end in one, and a client may send one. Anthropic
 * refuses a text with an unpaired surrogate (400), and the task would send this text again with each request.
 */
function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, '\ufffd');
}

/** Like `wellFormed`. Also replaces a text that has only white space, because Anthropic refuses it too. */
function sendableText(text: string): string {
  return text.trim() === '' ? '[empty]' : wellFormed(text);
}

/** Like `wellFormed`, for the strings of a tool call's input. A model may write an escape such as `\ud83d`. */
function wellFormedInput(input: Record<string, unknown>): Record<string, unknown> {
  const json = JSON.stringify(input);
  // Of all surrogates, `JSON.stringify` escapes only the unpaired ones.
  if (!/\\ud[89a-f]/.test(json)) return input;
  const whole: Record<string, unknown> = JSON.parse(json, (_, value: unknown) =>
    typeof value === 'string' ? wellFormed(value) : value,
  );
  return whole;
}

/**
 * Returns a name that each provider accepts. A model may call a tool that does not exist, such as
 * `multi_tool_use.parallel` of OpenAI's models. OpenAI and Anthropic refuse such a name in later requests (400).
 */
function sendableToolName(name: string): string {
  return name.replaceAll(/[^\w-]/g, '_').slice(0, MAX_TOOL_NAME_CHARS) || '_';
}

type Contents = ReadonlyMap<string, Uint8Array>;

function messages(
  step: ConversationStep,
  { files, filesAfterResults }: { files: Contents; filesAfterResults: boolean },
): LanguageModelV3Message[] {
  switch (step.role) {
    case 'user':
      return [userMessage(step.text, step.files ?? [], files)];
    case 'assistant':
      return [assistantMessage(step)];
    case 'tool': {
      const results = step.results.map((result) => toolResult(result, filesAfterResults ? undefined : files));
      const later = filesAfterResults ? step.results.flatMap((result) => result.files ?? []) : [];
      const message: LanguageModelV3Message = { role: 'tool', content: results };
      return later.length === 0 ? [message] : [message, userMessage(FILES_OF_RESULTS, later, files)];
    }
  }
}

const FILES_OF_RESULTS = '(The files of the results above, in their order.)';

/**
 * Converts a message of the user. Files come before the text, as the documentation of Anthropic and Google recommends.
 */
function userMessage(
  text: string,
  files: readonly ConversationFile[],
  contents: Contents,
): LanguageModelV3Message {
  return {
    role: 'user',
    content: [...files.map((file) => userFile(file, contents)), { type: 'text', text: sendableText(text) }],
  };
}

type UserPart = Extract<LanguageModelV3Message, { role: 'user' }>['content'][number];

function userFile({ hash, mediaType, name }: ConversationFile, contents: Contents): UserPart {
  const data = contents.get(hash);
  if (data === undefined) return { type: 'text', text: LOST_FILE_TEXT };
  return { type: 'file', data, mediaType, ...(name !== undefined && { filename: wellFormed(name) }) };
}

const LOST_FILE_TEXT = '[The content of this file is lost.]';

type ToolPart = Extract<LanguageModelV3Message, { role: 'tool' }>['content'][number];

/** @param contents the contents of the files; undefined if the provider accepts only text in tool results */
function toolResult(
  { modelCallId, tool, text: result, isError, files = [] }: ConversationToolResult,
  contents: Contents | undefined,
): ToolPart {
  const text = sendableText(result);
  const output: LanguageModelV3ToolResultOutput =
    contents === undefined || files.length === 0
      ? { type: isError ? 'error-text' : 'text', value: text }
      : {
          type: 'content',
          value: [{ type: 'text', text }, ...files.map((file) => resultFile(file, contents))],
        };
  return { type: 'tool-result', toolCallId: modelCallId, toolName: sendableToolName(tool), output };
}

type ToolResultContentPart = Extract<LanguageModelV3ToolResultOutput, { type: 'content' }>['value'][number];

function resultFile({ hash, mediaType, name }: ConversationFile, contents: Contents): ToolResultContentPart {
  const bytes = contents.get(hash);
  if (bytes === undefined) return { type: 'text', text: LOST_FILE_TEXT };
  const data = Buffer.from(bytes).toString('base64');
  return mediaType.startsWith('image/')
    ? { type: 'image-data', data, mediaType }
    : { type: 'file-data', data, mediaType, ...(name !== undefined && { filename: wellFormed(name) }) };
}

function assistantMessage(step: Extract<ConversationStep, { role: 'assistant' }>): LanguageModelV3Message {
  if (step.parts !== undefined) return { role: 'assistant', content: step.parts.map(replayedPart) };
  return {
    role: 'assistant',
    content: [
      // Providers refuse an empty text block.
      ...(step.text === '' ? [] : [{ type: 'text' as const, text: wellFormed(step.text) }]),
      ...step.calls.map(toolCall),
    ],
  };
}

type AssistantPart = Extract<LanguageModelV3Message, { role: 'assistant' }>['content'][number];

function replayedPart(part: ReplayedPart): AssistantPart {
  const options = part.state && { providerOptions: providerOptions(part.state) };
  return part.type === 'call'
    ? { ...toolCall(part), ...options }
    : { type: part.type, text: wellFormed(part.text), ...options };
}

function toolCall({
  modelCallId,
  tool,
  input,
}: Extract<ConversationStep, { role: 'assistant' }>['calls'][number]): Extract<
  AssistantPart,
  { type: 'tool-call' }
> {
  return {
    type: 'tool-call',
    toolCallId: modelCallId,
    toolName: sendableToolName(tool),
    input: wellFormedInput(input),
  };
}

/**
 * Copies the signature of a Gemini model to the key `google`. `@ai-sdk/openai-compatible` returns the signature under
 * the provider's name, but sends back only a signature under `google`.
 */
function providerOptions(state: ProviderReplayData): SharedV3ProviderOptions {
  const signed = Object.values(state).find(({ thoughtSignature }) => thoughtSignature !== undefined);
  return signed === undefined || state['google'] !== undefined ? state : { ...state, google: signed };
}

function functionTool(tool: ToolDeclaration): NonNullable<LanguageModelV3CallOptions['tools']>[number] {
  return { type: 'function', name: tool.name, description: tool.description, inputSchema: tool.inputSchema };
}
