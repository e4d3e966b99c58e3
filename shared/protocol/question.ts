/**
 * A question to a person, and what they answer: the words of `urn:mcp-a2a-bridge:tool-approval:v1` for a pending action that
 * takes an answer in the place of an approval.
 */
import { z } from 'zod';

export const choice = z.object({ label: z.string().min(1), description: z.string().optional() });
export type Choice = z.infer<typeof choice>;

const titled = z.array(z.object({ const: z.string(), title: z.string().exactOptional() }));

/**
 * One field of a form, as MCP's elicitation has it (MCP 2025-11-25, `PrimitiveSchemaDefinition`). Other keywords are
 * dropped: a `pattern`, above all, which a foreign server could use to keep this one busy for ever (X3).
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

/** What a person is asked: for words of their own, to choose, or, with a `schema`, to fill in a form. */
export const question = z.object({
  text: z.string().min(1),
  choices: z.array(choice).min(1).optional(),
  /** Several of the choices may be taken. */
  multiple: z.boolean().optional(),
  /** Beside the choices other words are taken too. Without choices they always are. */
  freeText: z.boolean().optional(),
  schema: formSchema.optional(),
});
export type Question = z.infer<typeof question>;

/**
 * What a person answers: words or the label of a choice, the labels of several, or the values of a form by their names. A
 * client that only has text may write labels with commas between them, and a form as JSON.
 */
export const answer = z.union([
  z.string().max(100_000),
  z.array(z.string().max(10_000)).max(1000),
  z.record(z.string(), z.unknown()),
]);
export type Answer = z.infer<typeof answer>;
