/**
 * What of a conversation is still to be answered. The offline model keeps no state: where it stands follows from the
 * prompt alone, so that it goes on after a restart, in another process, or after a person has waited for days.
 */
import type {
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  LanguageModelV3ToolResultPart,
} from '@ai-sdk/provider';

/** A message of the person's. `fresh` when no turn has seen it yet. */
export interface Request {
  text: string;
  fresh: boolean;
}

export interface CallResult {
  tool: string;
  isError: boolean;
  text: string;
}

/** A turn of the assistant that asked for calls: their results, in the order the calls were asked for. */
export interface PastTurn {
  results: CallResult[];
}

export interface Unanswered {
  requests: Request[];
  turns: PastTurn[];
}

/**
 * The messages since the last turn that asked for no call: such a turn ended the work before it. What came before is
 * done, and stays done.
 */
export function unanswered(prompt: LanguageModelV3Prompt): Unanswered {
  const start =
    prompt.findLastIndex((message) => message.role === 'assistant' && callsIn(message).length === 0) + 1;
  const open = prompt.slice(start);
  const lastTurn = open.findLastIndex((message) => message.role === 'assistant');
  return {
    requests: open.flatMap((message, at) =>
      message.role === 'user' ? [{ text: textIn(message.content), fresh: at > lastTurn }] : [],
    ),
    turns: open.flatMap((message, at) =>
      message.role === 'assistant' ? [{ results: resultsOf(callsIn(message), open.slice(at + 1)) }] : [],
    ),
  };
}

interface Asked {
  id: string;
  tool: string;
}

function callsIn(message: LanguageModelV3Message): Asked[] {
  if (message.role !== 'assistant') return [];
  return message.content.flatMap((part) =>
    part.type === 'tool-call' ? [{ id: part.toolCallId, tool: part.toolName }] : [],
  );
}

/** The results before the next turn; an id is unique within its turn only. */
function resultsOf(calls: readonly Asked[], after: readonly LanguageModelV3Message[]): CallResult[] {
  const end = after.findIndex((message) => message.role === 'assistant');
  const results = new Map<string, LanguageModelV3ToolResultPart>();
  for (const message of end === -1 ? after : after.slice(0, end))
    if (message.role === 'tool')
      for (const part of message.content) if (part.type === 'tool-result') results.set(part.toolCallId, part);
  return calls.map(({ id, tool }) => {
    const result = results.get(id);
    return result === undefined
      ? { tool, isError: true, text: 'No result came back.' }
      : { tool, ...outputOf(result.output) };
  });
}

function outputOf(output: LanguageModelV3ToolResultPart['output']): { isError: boolean; text: string } {
  switch (output.type) {
    case 'text':
      return { isError: false, text: output.value };
    case 'error-text':
      return { isError: true, text: output.value };
    case 'json':
      return { isError: false, text: JSON.stringify(output.value) };
    case 'error-json':
      return { isError: true, text: JSON.stringify(output.value) };
    case 'execution-denied':
      return { isError: true, text: `The person denied this call. ${output.reason ?? ''}`.trim() };
    case 'content':
      return {
        isError: false,
        text: output.value.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n'),
      };
  }
}

function textIn(content: Extract<LanguageModelV3Message, { role: 'user' }>['content']): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
}
