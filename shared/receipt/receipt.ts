/**
 * A receipt is a record of one task for people who did not follow it. It names who asked, what the agent proposed, what
 * a person saw and decided, what ran, and the cost. Times are in RFC 3339.
 */
import { z } from 'zod';
import { presenceProofSchema } from '../presence/presence-proof.ts';
import {
  decisionScopeSchema,
  decisionWordSchema,
  grantLimitsSchema,
  pendingReasonSchema,
  previewSchema,
  sideEffectSchema,
  toolSourceSchema,
} from '../protocol/tool-approval.ts';

const time = z.string();
const input = z.record(z.string(), z.unknown());

/**
 * A question to a person. D2: a decision is valid only for what the person saw. `shown` is the code of what this
 * question showed.
 */
const questionSchema = z.object({
  at: time,
  shown: z.string(),
  reason: pendingReasonSchema,
  title: z.string(),
  preview: previewSchema,
  expiresAt: z.string().nullable(),
  /** True if a rule demanded a passkey for an approval. */
  presence: z.literal(true).optional(),
});

const decisionSchema = z.object({
  at: time,
  decision: decisionWordSchema,
  principal: z.string(),
  channel: z.string(),
  /**
   * The code of the newest question before the decision. Null if the journal contains no question about this tool call.
   */
  shown: z.string().nullable(),
  /** SHA-256 (hex) of the input that the person decided on. */
  inputHash: z.string(),
  scope: decisionScopeSchema,
  grant: grantLimitsSchema.nullable(),
  reason: z.string().nullable(),
  answer: z.unknown(),
  /** The input that the person wrote. Null if the person did not edit the agent's input. */
  edited: z.object({ title: z.string(), input, inputHash: z.string() }).nullable(),
  /** The assertion of the person's passkey, with all data that is needed to check it. */
  presence: presenceProofSchema.optional(),
});

const OUTCOMES = ['running', 'ok', 'error', 'stopped', 'unknown'] as const;

const runSchema = z.object({
  toolId: z.string(),
  startedAt: time,
  endedAt: time.nullable(),
  /**
   * `running` means that the tool had not ended when the receipt was made. `unknown` means that the server stopped
   * while the tool ran.
   */
  outcome: z.enum(OUTCOMES),
  /** The tool's own summary of its result, or its error. */
  text: z.string(),
  /**
   * The files that the tool changed. `before` and `after` are the SHA-256 (hex) of the content. Null means that the
   * file does not exist or was not saved.
   */
  files: z.array(z.object({ path: z.string(), before: z.string().nullable(), after: z.string().nullable() })),
});

const actionSchema = z.object({
  callId: z.string(),
  requestedAt: time,
  tool: z.string(),
  title: z.string(),
  input,
  inputHash: z.string(),
  sideEffect: sideEffectSchema,
  source: toolSourceSchema,
  /** Why the policy asked a person, allowed the tool call, or refused it. */
  policy: z.string(),
  questions: z.array(questionSchema),
  decisions: z.array(decisionSchema),
  runs: z.array(runSchema),
});

export const receiptSchema = z.object({
  receipt: z.literal(1),
  task: z.object({
    taskId: z.string(),
    sessionId: z.string(),
    principal: z.string(),
    workspace: z.string().nullable(),
    createdAt: time,
    state: z.string(),
    /** The time of the last event that this receipt covers. */
    updatedAt: time,
    /** The final message, the error, or the reason of the cancel. '' if there is none. */
    message: z.string(),
    /** The person or program that cancelled the task. */
    cancelledBy: z.object({ principal: z.string(), channel: z.string() }).nullable(),
  }),
  messages: z.array(
    z.object({
      at: time,
      messageId: z.string(),
      channel: z.string(),
      text: z.string(),
      files: z.array(z.object({ name: z.string(), mediaType: z.string(), hash: z.string() })),
    }),
  ),
  actions: z.array(actionSchema),
  revocations: z.array(
    z.object({ at: time, grantIds: z.array(z.string()), principal: z.string(), channel: z.string() }),
  ),
  /** The tokens and the cost of the task in US dollars. `usd` is null if the price of a model is unknown. */
  cost: z.object({
    models: z.array(z.string()),
    requests: z.number(),
    inputTokens: z.number(),
    cachedInputTokens: z.number(),
    cacheWriteTokens: z.number(),
    outputTokens: z.number(),
    usd: z.number().nullable(),
  }),
  /**
   * The hash chain over the task's journal (`a2a-server/receipts/event-chain.ts`). `hash` is the hash after the first
   * `events` events.
   */
  journal: z.object({ events: z.number().int().positive(), hash: z.string() }),
  server: z.object({ version: z.string() }),
});
export type Receipt = z.infer<typeof receiptSchema>;
export type ReceiptAction = Receipt['actions'][number];
export type ReceiptRun = ReceiptAction['runs'][number];
