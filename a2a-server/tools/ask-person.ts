/**
 * `ask-person`: a question to the person the work is done for. The call waits like one for approval, takes an answer in the
 * place of a decision, and never runs: the answer is its result.
 */
import { z } from 'zod';
import { ProductError } from '../../shared/errors.ts';
import { choice, type Question } from '../../shared/protocol/question.ts';
import { defineTool } from './define-tool.ts';
import { oneLine } from './one-line.ts';
import type { Tool } from './tool.ts';

const MAX_QUESTION = 8_000;
const MAX_CHOICES = 20;
const MAX_LABEL = 200;
const MAX_DESCRIPTION = 1_000;

const schema = z.strictObject({
  question: z
    .string()
    .min(1)
    .max(MAX_QUESTION)
    .describe('What to ask; one question, with what they need to know.'),
  choices: z
    .array(
      z.strictObject({
        label: choice.shape.label.trim().min(1).max(MAX_LABEL).describe('What they choose, in a few words.'),
        description: z.string().max(MAX_DESCRIPTION).optional().describe('What it would mean.'),
      }),
    )
    .min(1)
    .max(MAX_CHOICES)
    .refine((choices) => new Set(choices.map(({ label }) => label)).size === choices.length, {
      message: 'each choice needs a label of its own',
    })
    .optional()
    .describe('What they can choose from; leave it out to have an answer in their own words.'),
  multiple: z.boolean().optional().describe('They may take several of the choices.'),
  freeText: z.boolean().optional().describe('They may answer in their own words in the place of a choice.'),
});

export const askPerson: Tool = defineTool({
  name: 'ask-person',
  description:
    'Asks the person you work for a question and waits for the answer, for as long as they take. For what only they can say: a preference, a fact you cannot find out, which of several ways to take. Not for leave to do something: calls that need their approval are put before them anyway.',
  sideEffect: 'none',
  schema,
  timeoutMs: () => 0,
  title: ({ question }) => `Ask: ${oneLine(question)}`,
  show: async (input) => ({ preview: { type: 'question', ...questionIn(input) }, basis: null }),
  run: () =>
    Promise.reject(
      new ProductError('INVALID_DECISION', 'A question is answered by a person; it does not run.'),
    ),
});

function questionIn({ question, choices, multiple, freeText }: z.infer<typeof schema>): Question {
  return { text: question, ...(choices && { choices, multiple, freeText }) };
}
