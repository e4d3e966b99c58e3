/**
 * The `ask-person` tool asks the user a question. The call waits for the person's answer. The tool never runs, because
 * the answer is the tool call's result.
 */
import { z } from 'zod';
import { ProductError } from '../../../shared/runtime/errors.ts';
import type { Question } from '../../../shared/protocol/question.ts';
import { defineTool } from './define-tool.ts';
import { oneLineExcerpt } from '../../../shared/text/one-line.ts';
import type { Tool } from '../tool.ts';

const MAX_QUESTION_CHARS = 8_000;
const MAX_CHOICES = 20;
const MAX_LABEL_CHARS = 200;
const MAX_DESCRIPTION_CHARS = 1_000;

const schema = z.strictObject({
  question: z
    .string()
    .min(1)
    .max(MAX_QUESTION_CHARS)
    .describe('One question, with the facts the person needs to answer it.'),
  choices: z
    .array(
      z.strictObject({
        label: z.string().trim().min(1).max(MAX_LABEL_CHARS).describe('The choice, in a few words.'),
        description: z.string().max(MAX_DESCRIPTION_CHARS).optional().describe('What this choice means.'),
      }),
    )
    .min(1)
    .max(MAX_CHOICES)
    .refine((choices) => new Set(choices.map(({ label }) => label)).size === choices.length, {
      message: 'each choice needs a different label',
    })
    .optional()
    .describe('The choices. Leave this out to get a free-text answer.'),
  multiple: z.boolean().optional().describe('The person may select several choices.'),
  freeText: z
    .boolean()
    .optional()
    .describe('The person may answer in their own words instead of selecting a choice.'),
});

export const askPersonTool: Tool = defineTool({
  name: 'ask-person',
  description:
    'Asks the person you work for a question and waits for the answer without a time limit. Use it for what only the person knows: a preference, a fact you cannot find out, or which option to take. Do not use it to ask for permission: the server asks the person about each call that needs approval.',
  sideEffect: 'none',
  schema,
  timeoutMs: () => 0,
  title: ({ question }) => `Ask: ${oneLineExcerpt(question)}`,
  show: async (input) => ({ preview: { type: 'question', ...questionIn(input) }, basis: null }),
  run: () =>
    Promise.reject(
      new ProductError('INVALID_DECISION', 'A person answers a question; the question does not run.'),
    ),
});

function questionIn({ question, choices, multiple, freeText }: z.infer<typeof schema>): Question {
  return { text: question, ...(choices && { choices, multiple, freeText }) };
}
