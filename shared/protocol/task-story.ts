/**
 * The story of a task: its journal in a form for people. `GET /api/tasks/{id}/story` returns it in pages. The schemas
 * use `zod/mini`, because web pages read them.
 */
import * as z from 'zod/mini';
import { callReferenceFields, decisionWordSchema, stopReasonSchema } from './call-view.ts';

/** The place of an entry: `seq` is the position in the journal, `at` the time in milliseconds since 1970. */
const place = { seq: z.number(), at: z.number() };

/** A text that the server may have shortened. A marker in the text then counts the missing characters. */
const text = z.string();

const execution = { callId: z.string(), toolId: z.string() };
const decider = { by: z.string(), channel: z.string() };

const storyTodoSchema = z.object({ text, status: z.enum(['pending', 'in_progress', 'done']) });
export type StoryTodo = z.infer<typeof storyTodoSchema>;

export const storyEventSchema = z.discriminatedUnion('type', [
  z.object({
    ...place,
    type: z.literal('message'),
    channel: z.string(),
    text,
    files: z.array(z.object({ name: z.string(), mediaType: z.string(), bytes: z.number() })),
  }),
  z.object({ ...place, type: z.literal('turn'), turn: z.number(), model: z.string() }),
  /** More text of the agent's answer. The client appends it to the earlier text of the turn. */
  z.object({ ...place, type: z.literal('text'), turn: z.number(), text }),
  /**
   * More of the model's reasoning, which is not part of the answer. Only a client that requests `reasoning=true`
   * receives it.
   */
  z.object({ ...place, type: z.literal('reasoning'), turn: z.number(), text }),
  /** The whole to-do list after a change. */
  z.object({ ...place, type: z.literal('todos'), todos: z.array(storyTodoSchema) }),
  /**
   * Text of an artifact. If `append` is true, the client appends it to the artifact with the same id. Otherwise it
   * replaces the artifact.
   */
  z.object({
    ...place,
    type: z.literal('artifact'),
    artifactId: z.string(),
    name: z.string(),
    text,
    append: z.boolean(),
  }),
  /** The request to the model failed. The task ignores the text and the tool calls of this turn. */
  z.object({ ...place, type: z.literal('abandoned'), turn: z.number(), reason: z.string() }),
  z.object({ ...place, type: z.literal('note'), text }),
  z.object({
    ...place,
    type: z.literal('requested'),
    ...callReferenceFields,
    /** The value of each input field as text, by field name. A value that is not a string is JSON. */
    input: z.record(z.string(), z.string()),
    /** The source of the tool, e.g. an MCP server. '' if the tool is built in. */
    source: z.string(),
    /** Why the call may run, waits or is refused, e.g. `a person decides`. */
    verdict: z.string(),
    refused: z.boolean(),
  }),
  z.object({
    ...place,
    type: z.literal('decided'),
    callId: z.string(),
    decision: decisionWordSchema,
    scope: z.string(),
    ...decider,
    /** The person's reason. '' if the person gave none. */
    reason: z.string(),
    /** The edited input. Null if the person did not edit the call. */
    edited: z.nullable(z.object({ title: z.string(), input: z.record(z.string(), z.string()) })),
    /** The person's answer to a question, as text. Null if the decision is not an answer. */
    answer: z.nullable(text),
    /** The name of the passkey that signed the decision. Absent if no passkey did. */
    passkey: z.optional(z.string()),
  }),
  z.object({ ...place, type: z.literal('started'), ...execution }),
  z.object({ ...place, type: z.literal('output'), ...execution, text }),
  z.object({
    ...place,
    type: z.literal('finished'),
    ...execution,
    outcome: z.enum(['ok', 'error', 'stopped', 'unknown']),
    summary: z.string(),
    /** The result that the model received. '' if there is none. */
    result: text,
    stopReason: z.optional(stopReasonSchema),
  }),
  /**
   * The content behind the preview has changed. A decision is valid only for what the person saw (D2), so a person must
   * decide this call again.
   */
  z.object({ ...place, type: z.literal('outdated'), callId: z.string() }),
  /** The question of a running tool was withdrawn, so it no longer waits for an answer. */
  z.object({ ...place, type: z.literal('withdrawn'), callId: z.string() }),
  z.object({
    ...place,
    type: z.literal('files'),
    callId: z.string(),
    files: z.array(z.object({ path: z.string(), change: z.enum(['created', 'changed', 'deleted']) })),
  }),
  z.object({ ...place, type: z.literal('revoked'), ...decider, count: z.number() }),
  /** The agent waits for a reply. `text` is its question, or '' if it asks nothing. */
  z.object({ ...place, type: z.literal('question'), text }),
  z.object({
    ...place,
    type: z.literal('ended'),
    state: z.enum(['completed', 'failed', 'canceled', 'rejected']),
    text,
  }),
]);
export type StoryEvent = z.infer<typeof storyEventSchema>;

export const storyPageSchema = z.object({
  events: z.array(storyEventSchema),
  /** The position of the last journal entry that this page covers. The next page starts after it. */
  seq: z.number(),
  /** True if the journal had more entries at the time of the request. */
  more: z.boolean(),
});
export type StoryPage = z.infer<typeof storyPageSchema>;
