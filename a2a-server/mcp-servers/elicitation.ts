/**
 * Converts an MCP server's elicitation to a question of the calling task (MCP 2026-07-28 and 2025-11-25, Elicitation).
 */
import type { ElicitResult } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { formSchema, type Question } from '../../shared/protocol/question.ts';
import { ellipsize } from '../../shared/text/shortened-text.ts';
import { oneLineExcerpt } from '../../shared/text/one-line.ts';
import type { ToolQuestionOutcome } from '../tools/tool.ts';
import type { CandidateCalls, RunningMcpCall } from './running-calls.ts';

const MAX_QUESTION_CHARS = 4_000;
/** A longer address is refused, because a shortened one leads elsewhere. */
const MAX_URL_CHARS = 8_000;
const MAX_NAMED_CALLS = 8;
const MAX_CALL_CHARS = 160;

const OPENED = 'Done';
const REFUSED = 'Decline';

/** The parameters of `elicitation/create`. Any form is accepted here. A later check declines an invalid form. */
export const elicitationSchema = z.union([
  z.looseObject({ mode: z.literal('url'), message: z.string(), url: z.string() }),
  z.looseObject({ mode: z.literal('form').optional(), message: z.string(), requestedSchema: z.unknown() }),
]);
export type Elicitation = z.infer<typeof elicitationSchema>;

export type AskQuestion = (
  question: Question,
  options?: { signal?: AbortSignal },
) => Promise<ToolQuestionOutcome>;

const content = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]));

/**
 * Asks the person and returns the result for the MCP server. The result is `cancel` if no person can answer.
 * @param withdrawn aborts when the server withdraws the request
 * @throws the error of `ask` if the calling tool is stopped
 */
export async function answerElicitation(
  { server, params }: { server: string; params: Elicitation },
  origin: CandidateCalls,
  withdrawn?: AbortSignal,
): Promise<ElicitResult> {
  const asked = findCallToAsk(origin);
  if (asked === undefined) return { action: 'cancel' };
  const question = questionOf(server, params, asked.note);
  if (question === undefined) return { action: 'decline' };
  const told = await asked.call.ask(question, withdrawn && { signal: withdrawn });
  if (told.type === 'declined') return { action: 'decline' };
  if (question.schema === undefined) return { action: told.answer === OPENED ? 'accept' : 'decline' };
  const values = content.safeParse(told.answer);
  return values.success ? { action: 'accept', content: values.data } : { action: 'cancel' };
}

/**
 * Returns the tool call whose task shows the question. Over stdio and HTTP+SSE, the server's request does not name the
 * call that asks. If all running calls belong to one principal, their first call shows the question. `note` then names
 * the running calls. If the calls belong to several principals, returns undefined, because the wrong person could get
 * the question. Pure.
 */
function findCallToAsk({ calls, known }: CandidateCalls): { call: RunningMcpCall; note: string } | undefined {
  const [call, ...others] = calls;
  if (call === undefined) return undefined;
  if (known || others.length === 0) return { call, note: '' };
  if (others.some(({ principal }) => principal !== call.principal)) return undefined;
  const named = calls.slice(0, MAX_NAMED_CALLS).map(({ tool, input }) => {
    return `- ${oneLineExcerpt(`${tool} ${JSON.stringify(input)}`, MAX_CALL_CHARS)}`;
  });
  if (calls.length > MAX_NAMED_CALLS) named.push(`- and ${calls.length - MAX_NAMED_CALLS} more`);
  return {
    call,
    note: `\n\nThe server runs ${calls.length} calls and does not say which one asks:\n${named.join('\n')}`,
  };
}

/** Converts the parameters to a question. Returns undefined for a form or an address that clients cannot show. */
function questionOf(server: string, params: Elicitation, note: string): Question | undefined {
  const text = `The MCP server ${server} asks: ${ellipsize(params.message, MAX_QUESTION_CHARS)}${note}`;
  if (params.mode === 'url')
    return params.url.length > MAX_URL_CHARS
      ? undefined
      : {
          text: `${text}\n\nIf you trust this address, open it and confirm when you are done: ${params.url}`,
          choices: [{ label: OPENED }, { label: REFUSED }],
          freeText: false,
        };
  const schema = formSchema.safeParse(params.requestedSchema);
  return schema.success ? { text, schema: schema.data } : undefined;
}
