/**
 * Turns an MCP server's elicitation (MCP 2025-11-25, Elicitation) into a question of the task that called the server.
 */
import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { formSchema, type Question } from '../../shared/protocol/question.ts';
import type { PersonsAnswer } from '../tools/tool.ts';

/** The maximum length of a question, in characters. */
const MAX_MESSAGE = 4_000;

const OPENED = 'Done';
const REFUSED = 'Decline';

export type AskQuestion = (question: Question) => Promise<PersonsAnswer>;

const content = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]));

/**
 * Asks the person and returns the result for the MCP server.
 * @param asks one function per running call of the server. MCP does not say which call an elicitation belongs to.
 * With several calls, the question could reach the wrong person, so this function asks nobody.
 * @returns `cancel` if it could not ask
 * @throws the error of `ask` when its call is stopped
 */
export async function elicit(
  server: string,
  params: ElicitRequest['params'],
  asks: readonly AskQuestion[],
): Promise<ElicitResult> {
  const [ask] = asks;
  if (ask === undefined || asks.length > 1) return { action: 'cancel' };
  const question = questionOf(server, params);
  if (question === undefined) return { action: 'decline' };
  const told = await ask(question);
  if (told.type === 'declined') return { action: 'decline' };
  if (question.schema === undefined) return { action: told.answer === OPENED ? 'accept' : 'decline' };
  const values = content.safeParse(told.answer);
  return values.success ? { action: 'accept', content: values.data } : { action: 'cancel' };
}

/** Undefined for a form that clients cannot show. */
function questionOf(server: string, params: ElicitRequest['params']): Question | undefined {
  const text = `The MCP server ${server} asks: ${cut(params.message)}`;
  if (params.mode === 'url')
    return {
      text: `${text}\n\nIf you trust this address, open it and confirm when you are done: ${params.url}`,
      choices: [{ label: OPENED }, { label: REFUSED }],
      freeText: false,
    };
  const schema = formSchema.safeParse(params.requestedSchema);
  return schema.success ? { text, schema: schema.data } : undefined;
}

function cut(message: string): string {
  return message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE - 1)}…` : message;
}
