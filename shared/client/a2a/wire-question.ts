/** The schemas of `protocol/question.ts` in `zod/mini`, which keeps the bundle of a web page small. */
import * as z from 'zod/mini';

const titled = z.array(z.object({ const: z.string(), title: z.exactOptional(z.string()) }));

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

/** The preview of a question. */
export const questionPreviewSchema = z.object({
  type: z.literal('question'),
  text: z.string(),
  choices: z.optional(z.array(z.object({ label: z.string(), description: z.optional(z.string()) }))),
  multiple: z.optional(z.boolean()),
  freeText: z.optional(z.boolean()),
  schema: z.optional(
    z.object({
      type: z.literal('object'),
      properties: z.record(z.string(), formField),
      required: z.exactOptional(z.array(z.string())),
    }),
  ),
});
