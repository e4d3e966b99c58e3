/**
 * The A2A extension `urn:mcp-a2a-bridge:tool-approval:v1`: how a task that waits for a person says what it
 * waits for, and how the person's decision comes back.
 *
 * An `input-required` task carries one data part `{ extension, pending: [...] }`; a decision message carries one
 * data part `{ extension, decisions: [...] }`. A client without the extension reads the text part beside it. When one
 * action is pending it may answer with the exact words `approve` or `deny`, followed by the action's code when the call is
 * asked again. A question takes any words.
 */
import { z } from 'zod';
import { TOOL_APPROVAL } from './extensions.ts';
import { answer, question } from './question.ts';

export { TOOL_APPROVAL };

/** What a tool may do to the world. `none` is read-only: it may be run again without asking. */
export const sideEffect = z.enum(['none', 'files', 'command', 'network', 'other']);
export type SideEffect = z.infer<typeof sideEffect>;

/** Who offers the tool. */
export const toolSource = z.discriminatedUnion('type', [
  z.object({ type: z.literal('built-in') }),
  z.object({ type: z.literal('mcp-server'), server: z.string() }),
  z.object({ type: z.literal('acp-agent'), agent: z.string() }),
]);
export type ToolSource = z.infer<typeof toolSource>;

/** What a person is shown before they decide. */
export const preview = z.discriminatedUnion('type', [
  z.object({ type: z.literal('diff'), path: z.string(), diff: z.string() }),
  z.object({ type: z.literal('command'), command: z.string(), cwd: z.string() }),
  z.object({ type: z.literal('url'), url: z.string() }),
  z.object({ type: z.literal('json'), value: z.unknown() }),
  z.object({ type: z.literal('question'), ...question.shape }),
]);
export type Preview = z.infer<typeof preview>;

/** `answer` goes with a question and with nothing else; `deny` declines one. */
export const decisionWord = z.enum(['approve', 'deny', 'edit', 'answer']);
export type DecisionWord = z.infer<typeof decisionWord>;

/** How far a decision reaches: this call, later calls of the tool, of the tool's server, or all later calls. */
export const decisionScope = z.enum(['once', 'tool', 'server', 'always']);
export type DecisionScope = z.infer<typeof decisionScope>;

/**
 * Why the call waits: it was never decided; its outcome was lost in a crash; what was shown has changed since; or it is a
 * question, which a person answers and nothing runs for.
 */
export const pendingReason = z.enum(['approval', 'outcome-unknown', 'content-changed', 'question']);
export type PendingReason = z.infer<typeof pendingReason>;

export const pendingAction = z.object({
  callId: z.string(),
  tool: z.string(),
  /** One line that says what the call will do, e.g. `Write test.md`. */
  title: z.string(),
  input: z.record(z.string(), z.unknown()),
  /**
   * Names this question: 8 hex digits over the call, its input, the content its preview was made from, and `reason`. A
   * decision carries the code of the question that the person saw; another code is refused (D2).
   */
  shown: z.string(),
  sideEffect,
  source: toolSource,
  preview,
  reason: pendingReason,
  /** The rule of the operator's for which it is asked, whatever trust was given; absent where nothing allows it. */
  rule: z.string().optional(),
  /** RFC 3339, or null when the action waits for as long as it takes. */
  expiresAt: z.string().nullable(),
  decisions: z.array(decisionWord),
  /** How far an approval of it may reach; absent where every scope that fits the source is taken. */
  scopes: z.array(decisionScope).optional(),
});
export type PendingAction = z.infer<typeof pendingAction>;

/**
 * How long a trust lasts that is given with a decision: minutes from then, and later calls that run for it. Whichever is over
 * first ends it; without either it lasts as long as the task.
 */
export const grantLimits = z
  .strictObject({
    minutes: z.number().positive().max(525_600).optional(),
    uses: z.int().min(1).max(100_000).optional(),
  })
  .refine(({ minutes, uses }) => minutes !== undefined || uses !== undefined, {
    message: 'it needs minutes, uses, or both',
  });
export type GrantLimits = z.infer<typeof grantLimits>;

/**
 * One decision. `shown` is the code of the question as the person saw it: the surface that displayed the question keeps
 * it, and nothing fills it in later (D2). `input` replaces the whole input, `content` only the text that would be written (tools that
 * write a file); either goes with `edit`, and only with it. `answer` goes with `answer`, and only with it.
 */
export const decision = z
  .strictObject({
    callId: z.string().min(1).max(200),
    shown: z.string().min(1).max(100),
    decision: decisionWord,
    scope: decisionScope.default('once'),
    /** Goes with a scope beyond `once`. */
    grant: grantLimits.optional(),
    input: z.record(z.string(), z.unknown()).optional(),
    content: z.string().optional(),
    answer: answer.optional(),
    reason: z.string().max(10_000).optional(),
  })
  .refine((d) => (d.decision === 'edit') === (d.input !== undefined || d.content !== undefined), {
    message: 'edit needs the new input or content, and only edit takes one',
  })
  .refine((d) => (d.decision === 'answer') === (d.answer !== undefined), {
    message: 'answer needs the answer, and only answer takes one',
  })
  .refine((d) => d.grant === undefined || d.scope !== 'once', {
    message: 'grant limits a trust, and goes with scope tool, server or always',
  });
export type Decision = z.infer<typeof decision>;

export const pendingPart = z.object({
  extension: z.literal(TOOL_APPROVAL),
  pending: z.array(pendingAction),
});
export type PendingPart = z.infer<typeof pendingPart>;

export const decisionsPart = z.strictObject({
  extension: z.literal(TOOL_APPROVAL),
  decisions: z.array(decision).min(1).max(100),
  /** How the person was asked, for the record: `tool`, `elicitation`, `task-form`, `page`, `cli`, … */
  channel: z.string().max(50).optional(),
});
export type DecisionsPart = z.infer<typeof decisionsPart>;

/** Takes back grants of a task: those named, or all of them. What they let run and has not started is asked for again. */
export const revokePart = z.strictObject({
  extension: z.literal(TOOL_APPROVAL),
  revoke: z.union([z.literal('all'), z.array(z.string().min(1).max(200)).min(1).max(1000)]),
  channel: z.string().max(50).optional(),
});
export type RevokePart = z.infer<typeof revokePart>;

/**
 * What a task may do unasked: `ask` nothing that has side effects; `accept-edits` change files; `auto` everything, as
 * `autoExecute: true` says too; `plan` nothing, nor after asking: the agent looks around and lays out a plan.
 */
export const taskMode = z.enum(['ask', 'accept-edits', 'auto', 'plan']);
export type TaskMode = z.infer<typeof taskMode>;

/** What a client may set when it starts a task: `message.metadata[TOOL_APPROVAL]`. */
export const taskSettings = z.strictObject({
  /** Absolute path of the directory the agent works in. */
  workspace: z.string().min(1).max(4096).optional(),
  /** Run every tool without asking. Everything is recorded all the same. */
  autoExecute: z.boolean().optional(),
  /** Offer the model only tools without side effects. */
  readOnly: z.boolean().optional(),
  /** Must not contradict `autoExecute` or `readOnly`. */
  mode: taskMode.optional(),
  /** A model tier (`fast`, `smart`) or a model id the server knows. */
  model: z.string().min(1).max(200).optional(),
});
export type TaskSettings = z.infer<typeof taskSettings>;

/** One thing an agent means to do. */
export const todo = z.strictObject({
  text: z.string().min(1).max(200).describe('What is to be done, in a few words.'),
  status: z.enum(['pending', 'in_progress', 'done']),
});
export type Todo = z.infer<typeof todo>;

/**
 * `metadata[TOOL_APPROVAL]` of an artifact that is no part of the agent's answer: what a tool execution has put out, or the
 * agent's list of things to do, each time anew. A client that knows nothing of it sees one artifact more.
 */
export const aside = z.discriminatedUnion('role', [
  z.object({ role: z.literal('tool-output'), toolId: z.string(), title: z.string() }),
  z.object({ role: z.literal('todos'), todos: z.array(todo) }),
]);
export type Aside = z.infer<typeof aside>;

/** Why a tool execution stopped before its own end (A1). */
export const stopReason = z.enum(['abort-request', 'task-cancel', 'timeout', 'server-shutdown', 'own-error']);
export type StopReason = z.infer<typeof stopReason>;

const callRef = { callId: z.string(), tool: z.string(), title: z.string() };

/**
 * What just happened to a call, as `metadata[TOOL_APPROVAL].activity` of a streamed status update. It lets a client
 * show progress with tool names and learn the `toolId` that abort takes.
 */
export const activity = z.discriminatedUnion('type', [
  /** `question`: what is asked for is an answer. */
  z.object({
    type: z.literal('tool.requested'),
    ...callRef,
    asks: z.boolean(),
    question: z.literal(true).optional(),
  }),
  z.object({
    type: z.literal('tool.decided'),
    ...callRef,
    decision: decisionWord,
    by: z.string(),
    channel: z.string(),
    /** SHA-256 (hex) of the input that was decided on, for the record. Older servers may leave it out. */
    inputHash: z.string().optional(),
  }),
  z.object({ type: z.literal('tool.started'), ...callRef, toolId: z.string() }),
  z.object({ type: z.literal('tool.output'), ...callRef, toolId: z.string(), text: z.string() }),
  z.object({
    type: z.literal('tool.finished'),
    ...callRef,
    toolId: z.string().nullable(),
    outcome: z.enum(['ok', 'error', 'stopped', 'denied', 'skipped', 'withdrawn', 'unknown']),
    summary: z.string(),
    stopReason: stopReason.optional(),
  }),
]);
export type Activity = z.infer<typeof activity>;

/** The decision that stands on a call: who made it, over which channel, when (RFC 3339), and the hash of its input. */
export const standingDecision = z.object({
  decision: decisionWord,
  by: z.string(),
  channel: z.string(),
  at: z.string(),
  inputHash: z.string(),
});
export type StandingDecision = z.infer<typeof standingDecision>;

/** Tokens as the models' providers count them. */
const usage = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  /** Of the input tokens, those a provider had from before. */
  cachedInputTokens: z.number().optional(),
  /** What they cost in US dollars, by the prices the server is told; null where it does not know one of them. */
  usd: z.number().nullable().optional(),
});

/** A trust that stands, as a status shows it. Times are RFC 3339. */
export const grantView = z.object({
  grantId: z.string(),
  scope: decisionScope.exclude(['once']),
  /** The tool of the call it was given with; its only reach where the scope is `tool`. */
  tool: z.string(),
  source: toolSource,
  by: z.string(),
  channel: z.string(),
  at: z.string(),
  /** Null for as long as the task lasts. Once it is over the grant counts no more. */
  expiresAt: z.string().nullable(),
  /** Null for as many as it takes. */
  usesLeft: z.number().nullable(),
});
export type GrantView = z.infer<typeof grantView>;

/** An MCP server whose tools the agent has, as it is now. */
export const toolServerView = z.object({
  name: z.string(),
  state: z.enum(['starting', 'ready', 'down']),
  /** How many of its tools are offered. */
  tools: z.number(),
  /** Why it is down, or what of its list could not be used. */
  error: z.string().optional(),
});
export type ToolServerView = z.infer<typeof toolServerView>;

/** `metadata[TOOL_APPROVAL]` of a Task snapshot: what a status view needs beside the A2A fields. */
export const taskOverview = z.object({
  settings: taskSettings,
  turns: z.number(),
  calls: z.array(
    z.object({
      ...callRef,
      toolId: z.string().nullable(),
      sideEffect,
      state: z.enum([
        'waiting',
        'ready',
        'running',
        'ok',
        'error',
        'stopped',
        'denied',
        'skipped',
        'answered',
        'withdrawn',
      ]),
      /** RFC 3339; only of a call that runs. */
      startedAt: z.string().optional(),
      /** Absent while nobody has decided, or nobody had to. */
      decided: standingDecision.optional(),
    }),
  ),
  /** Left out by a server of before. */
  grants: z.array(grantView).optional(),
  /**
   * Only where a task is asked for by itself, and only where there are any: they are no part of the task, and change without
   * it.
   */
  servers: z.array(toolServerView).optional(),
  /** `models`: of each, where the task was worked on by more than one. */
  usage: usage.extend({ models: z.array(usage.extend({ model: z.string() })).optional() }),
});
export type TaskOverview = z.infer<typeof taskOverview>;
