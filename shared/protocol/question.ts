/**
 * The schemas of a question to a person and of the answer, part of `urn:mcp-a2a-bridge:tool-approval:v1`. A question is a
 * pending action that needs an answer instead of an approval.
 */
import { z } from 'zod';

export const choiceSchema = z.object({ label: z.string().min(1), description: z.string().optional() });
export type Choice = z.infer<typeof choiceSchema>;

const titled = z.array(z.object({ const: z.string(), title: z.string().exactOptional() }));

/**
 * One form field, as in MCP elicitation (MCP 2025-11-25, `PrimitiveSchemaDefinition`). Other keywords are dropped. A
 * `pattern` above all: a hostile server could send one that blocks the process (X3).
 */
const formField = z.object({
  type: z.enum(['string', 'number', 'integer', 'boolean', 'array']),
  title: z.string().exactOptional(),
  description: z.string().exactOptional(),
  default: z.unknown().exactOptional(),
  enum: z.array(z.string()).exactOptional(),
  enumNames: z.array(z.string()).exactOptional(),
  oneOf: titled.exactOptional(),
  format: z.enum(['email', 'uri', 'date', 'date-time']).exactOptional(),
  minLength: z.number().exactOptional(),
  maxLength: z.number().exactOptional(),
  minimum: z.number().exactOptional(),
  maximum: z.number().exactOptional(),
  items: z
    .object({
      type: z.literal('string').exactOptional(),
      enum: z.array(z.string()).exactOptional(),
      anyOf: titled.exactOptional(),
    })
    .exactOptional(),
  minItems: z.number().exactOptional(),
  maxItems: z.number().exactOptional(),
});

/** A form: a flat object of fields, as JSON Schema. */
export const formSchema = z.object({
  type: z.literal('object'),
  properties: z.record(z.string(), formField),
  required: z.array(z.string()).exactOptional(),
});
export type FormSchema = z.infer<typeof formSchema>;

/** A question to a person. It asks for free text, for a choice, or, with a `schema`, for a completed form. */
export const questionSchema = z.object({
  text: z.string().min(1),
  choices: z.array(choiceSchema).min(1).optional(),
  /** The person may take several choices. */
  multiple: z.boolean().optional(),
  /** The person may write free text instead of a choice. A question without choices always takes free text. */
  freeText: z.boolean().optional(),
  schema: formSchema.optional(),
});
export type Question = z.infer<typeof questionSchema>;

/**
 * A person's answer: free text, a label, several labels, or the values of a form by field name. A client that can only send
 * text may write labels with commas between them, and a form as JSON.
 */
export const answerSchema = z.union([
  z.string().max(100_000),
  z.array(z.string().max(10_000)).max(1000),
  z.record(z.string(), z.unknown()),
]);
export type Answer = z.infer<typeof answerSchema>;
