/**
 * What an MCP server wants to know of a person while it works on a call (MCP 2025-11-25, Elicitation), asked as a question of
 * the task whose call it is.
 */
import type { ElicitRequest, ElicitResult } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { formSchema, type Question } from '../../shared/protocol/question.ts';
import type { PersonsAnswer } from '../tools/tool.ts';

/** What a question may be long, in characters. */
const MAX_MESSAGE = 4_000;

const OPENED = 'Done';
const REFUSED = 'Decline';

export type Ask = (question: Question) => Promise<PersonsAnswer>;

const content = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]));

/**
 * @param asks how to ask the person behind each of the calls that the server works on. The protocol does not say for which of
 * them it asks: with more than one, nobody is asked, for it might be the wrong person.
 * @returns `cancel` where nobody could be asked. @throws what `ask` does when its call is stopped.
 */
export async function elicit(
  server: string,
  params: ElicitRequest['params'],
  asks: readonly Ask[],
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

/** Undefined for a form that no client could show. */
function questionOf(server: string, params: ElicitRequest['params']): Question | undefined {
  const text = `The MCP server ${server} asks: ${cut(params.message)}`;
  if (params.mode === 'url')
    return {
      text: `${text}\n\nOpen this address, if you trust it, and say when you are done: ${params.url}`,
      choices: [{ label: OPENED }, { label: REFUSED }],
      freeText: false,
    };
  const schema = formSchema.safeParse(params.requestedSchema);
  return schema.success ? { text, schema: schema.data } : undefined;
}

function cut(message: string): string {
  return message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE - 1)}…` : message;
}
