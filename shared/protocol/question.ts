/**
 * The schemas of a question to a person and of the answer, part of `urn:mcp-a2a-bridge:tool-approval:v1`. A question is
 * a pending action that needs an answer instead of an approval. The schemas use `zod/mini`, because web pages read
 * them.
 */
import * as z from 'zod/mini';

const choiceSchema = z.object({
  label: z.string().check(z.minLength(1)),
  description: z.optional(z.string()),
});
export type Choice = z.infer<typeof choiceSchema>;

const titled = z.array(z.object({ const: z.string(), title: z.exactOptional(z.string()) }));

/**
 * One form field, as in MCP elicitation (MCP 2025-11-25, `PrimitiveSchemaDefinition`). The schema drops other keywords.
 * X3: no input may block the process. A `pattern` of a hostile server could block it, so the schema drops `pattern`
 * too.
 */
const formField = z.object({
  type: z.enum(['string', 'number', 'integer', 'boolean', 'array']),
  title: z.exactOptional(z.string()),
  description: z.exactOptional(z.string()),
  default: z.exactOptional(z.unknown()),
  enum: z.exactOptional(z.array(z.string())),
  enumNames: z.exactOptional(z.array(z.string())),
  oneOf: z.exactOptional(titled),
  format: z.exactOptional(z.enum(['email', 'uri', 'date', 'date-time'])),
  minLength: z.exactOptional(z.number()),
  maxLength: z.exactOptional(z.number()),
  minimum: z.exactOptional(z.number()),
  maximum: z.exactOptional(z.number()),
  items: z.exactOptional(
    z.object({
      type: z.exactOptional(z.literal('string')),
      enum: z.exactOptional(z.array(z.string())),
      anyOf: z.exactOptional(titled),
    }),
  ),
  minItems: z.exactOptional(z.number()),
  maxItems: z.exactOptional(z.number()),
});

export const formSchema = z.object({
  type: z.literal('object'),
  properties: z.record(z.string(), formField),
  required: z.exactOptional(z.array(z.string())),
});
export type FormSchema = z.infer<typeof formSchema>;

/** A question asks for free text or for a choice. If it has a `schema`, it asks the person to complete a form. */
export const questionSchema = z.object({
  text: z.string().check(z.minLength(1)),
  choices: z.optional(z.array(choiceSchema).check(z.minLength(1))),
  multiple: z.optional(z.boolean()),
  /**
   * True if the person may write free text instead of choosing. If a question has no choices, free text is always
   * allowed.
   */
  freeText: z.optional(z.boolean()),
  schema: z.optional(formSchema),
});
export type Question = z.infer<typeof questionSchema>;

/**
 * A person's answer: free text, one label, several labels, or the values of a form by field name. A client that can
 * send only text separates several labels with commas, and writes a form as JSON.
 */
export const answerSchema = z.union([
  z.string().check(z.maxLength(100_000)),
  z.array(z.string().check(z.maxLength(10_000))).check(z.maxLength(1000)),
  z.record(z.string(), z.unknown()),
]);
export type Answer = z.infer<typeof answerSchema>;
