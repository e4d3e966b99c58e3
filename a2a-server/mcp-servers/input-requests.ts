/**
 * Answers the input requests in the result of a tool call (MCP 2026-07-28, Multi Round-Trip Requests). Each question is
 * in a result, so it belongs to a known call. The client then sends the call again with the answers.
 */
import type { ElicitResult, InputRequiredResult } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { oneLineExcerpt } from '../../shared/text/one-line.ts';
import type { McpServerToolResult } from './call-result.ts';
import { elicitationSchema, type Elicitation } from './elicitation.ts';

const MAX_QUESTION_ROUNDS = 20;

const elicitation = z.looseObject({ method: z.literal('elicitation/create'), params: elicitationSchema });

interface CallWithInputRequestsOptions {
  send: (more: Record<string, unknown>) => Promise<McpServerToolResult | InputRequiredResult>;
  elicit: (params: Elicitation) => Promise<ElicitResult>;
  pause: () => Promise<void>;
}

/**
 * Sends the tool call until its result is complete.
 * @throws Error if the server asks too often, or asks for input that this client does not support
 */
export async function callWithInputRequests({
  send,
  elicit,
  pause,
}: CallWithInputRequestsOptions): Promise<McpServerToolResult> {
  let result = await send({});
  for (let round = 1; isInputRequired(result); round += 1) {
    if (round > MAX_QUESTION_ROUNDS)
      throw new Error(`asks for input more than ${MAX_QUESTION_ROUNDS} times in one call`);
    const { inputRequests, requestState } = result;
    const inputResponses: Record<string, ElicitResult> = {};
    for (const [key, request] of Object.entries(inputRequests ?? {}))
      inputResponses[key] = await elicit(elicitationIn(request));
    const answered = Object.keys(inputResponses).length > 0;
    if (!answered) await pause();
    result = await send({
      ...(answered && { inputResponses }),
      // The state goes back unchanged. MCP: "Clients MUST NOT inspect, parse, modify" it.
      ...(requestState !== undefined && { requestState }),
    });
  }
  return result;
}

function isInputRequired(result: McpServerToolResult | InputRequiredResult): result is InputRequiredResult {
  return 'resultType' in result && result.resultType === 'input_required';
}

function elicitationIn(request: unknown): Elicitation {
  const parsed = elicitation.safeParse(request);
  if (parsed.success) return parsed.data.params;
  const { data } = z.looseObject({ method: z.string() }).safeParse(request);
  throw new Error(
    `asks for input that this client does not offer: ${oneLineExcerpt(data?.method ?? 'an unknown kind', 60)}`,
  );
}
