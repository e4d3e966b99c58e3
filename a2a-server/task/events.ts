/**
 * Defines the events of a task's journal. An event is durable before a client gets it, and before it causes a side
 * effect.
 *
 * Each change of the task's state has its own event (`task.working`, `input.required`, `task.completed` …). An event
 * contains all data that a client needs. A reader can therefore convert an event to A2A without the earlier events.
 */
import type { PresenceProof } from '../../shared/presence/presence-proof.ts';
import type { TraceContext } from '../../shared/net/trace-context.ts';
import type { CommandCall } from '../../shared/protocol/agent-command.ts';
import type { Answer } from '../../shared/protocol/question.ts';
import type {
  DecisionScope,
  DecisionWord,
  GrantLimits,
  PendingAction,
  Preview,
  SideEffect,
  StopReason,
  TaskSettings,
  Todo,
  ToolProgress,
  ToolSource,
} from '../../shared/protocol/tool-approval.ts';
import type { ApproverDemand } from './approver.ts';
import type { InstructionFile } from './instructions.ts';
import type { StoredFile } from './stored-file.ts';
import type { TurnReplayData } from './replay-provider-data.ts';

/** A text part or a data part of a message. The agent gets it unchanged. */
type TextOrData = { type: 'text'; text: string } | { type: 'data'; data: unknown };

export type MessagePart = TextOrData | { type: 'stored-file'; file: StoredFile };

export type ArtifactPart =
  | TextOrData
  | { type: 'file'; base64: string; name?: string | undefined; mediaType?: string | undefined }
  | { type: 'file-url'; url: string; name?: string | undefined; mediaType?: string | undefined };

/** An agent's output in addition to its text. The agent chooses the id, which is unique within the task. */
export interface Artifact {
  artifactId: string;
  name: string;
  description: string;
  parts: readonly ArtifactPart[];
}

export interface UserMessage {
  messageId: string;
  parts: MessagePart[];
  /** The command that the agent runs without a model. */
  command?: CommandCall;
  /** The client's own data. It is in the task's history, but the model does not get it. */
  metadata?: Record<string, unknown>;
  extensions?: readonly string[];
  referenceTaskIds?: readonly string[];
}

export interface RequestedCall {
  callId: string;
  /** The model's id of the tool call. It is unique only within its turn. */
  modelCallId: string;
  tool: string;
  title: string;
  input: Record<string, unknown>;
  inputHash: string;
  sideEffect: SideEffect;
  /** True if a second run has no further effect, e.g. of a GET request. Read-only calls are always repeatable. */
  repeatable?: boolean;
  source: ToolSource;
  preview: Preview;
  /**
   * A hash of the content behind the preview, e.g. of a file's content. Null if there is no such content. D2: if this
   * hash changes, the person must decide again.
   */
  basis: string | null;
}

export type AllowReason =
  | { type: 'read-only' }
  | { type: 'auto-execute' }
  | { type: 'accept-edits' }
  | { type: 'rule'; rule: string }
  /** A grant allowed the call. Old journals have no `grantId`. */
  | { type: 'grant'; scope: DecisionScope; callId: string; grantId?: string };

/**
 * The policy's verdict on a tool call.
 *
 * - `ask`: a person decides. `rule` names the rule that requires this, even against modes and grants. With `presence`,
 *   an approval needs the assertion of a passkey. `approver` says who may approve.
 * - `question`: the call asks a person a question. Only a person can answer it, and no tool runs.
 * - `allow`: the call runs. `approver` says who may approve it if it waits later, e.g. because its grant was revoked.
 * - `refuse`: the call cannot run, e.g. because its tool is unknown. The model gets `message`.
 */
export type PolicyVerdict =
  | { type: 'ask'; rule?: string; presence?: true; approver?: ApproverDemand }
  | { type: 'question' }
  | { type: 'allow'; because: AllowReason; approver?: ApproverDemand }
  | { type: 'refuse'; message: string };

/** Names a tool execution in its events. */
export type ToolExecutionReference = Pick<
  Extract<TaskEvent, { type: 'tool.started' }>,
  'callId' | 'tool' | 'title' | 'toolId'
>;

/** Names the principal who decided, and the channel of the decision. */
export interface Decider {
  principal: string;
  channel: string;
}

/** The state of a file. `mode` has the file's permissions, because a restoration may create the file again. */
export type FileState =
  | { type: 'content'; hash: string; bytes: number; mode?: number }
  | { type: 'absent' }
  /** The server did not save the content and cannot restore the file. `why` gives the reason. */
  | { type: 'not-saved'; why: string };

/** A file that a tool execution changes. The path is relative to the workspace. */
export interface RecordedFileChange {
  path: string;
  before: FileState;
  after: FileState;
}

/**
 * The outcome of a tool execution. `text` is for the model, and its length is already limited. The append with this
 * outcome also stores the contents of `files`.
 */
export type ToolOutcome =
  | { type: 'ok'; text: string; summary: string; files?: readonly StoredFile[] }
  | { type: 'error'; message: string }
  | {
      type: 'stopped';
      reason: StopReason;
      /**
       * False if it is unknown whether the tool has stopped, e.g. after its grace period. The tool may still have an
       * effect later.
       */
      confirmed: boolean;
      message: string;
      text: string;
    };

/** Token counts, as the provider reports them. */
export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
  /** Input tokens from the provider's cache. They cost less. Absent if there are none. */
  cachedInputTokens?: number;
  /** Input tokens that the provider wrote to its cache. They may cost more. Absent if there are none. */
  cacheWriteTokens?: number;
}

/**
 * The end of a model turn. A string is a finish reason that every model can have. An object means that the agent itself
 * ends the task or waits for a reply. `question` is null if the agent waits without a question.
 */
export type TurnEnd =
  | 'stop'
  | 'tool-calls'
  | 'length'
  /** The turn has no text and no tool calls. */
  | 'empty'
  | 'content-filter'
  | { type: 'completed' | 'failed' | 'rejected'; message: string }
  | { type: 'input-required'; question: string | null }
  | { type: 'auth-required'; question: string };

/** The cost of a principal's tasks on one UTC day, in US dollars. `day` is the number of days since 1970-01-01. */
export interface DayCost {
  day: number;
  usd: number;
}

export interface TurnRef {
  taskId: string;
  turn: number;
}

export type TaskEvent =
  /**
   * The first event. With `answer`, the client gets only the agent's last text as a message, and no task (A2A 1.0
   * §3.1.1).
   */
  | { type: 'task.created'; sessionId: string; principal: string; settings: TaskSettings; answer?: 'message' }
  /**
   * A message to the task. `by` is the sender, if it is not the principal who began the task. `trace` is the trace of
   * the request. The task's later work belongs to this trace, even after a restart.
   */
  | { type: 'message.received'; message: UserMessage; channel: string; by?: string; trace?: TraceContext }
  /**
   * The task works: at its beginning, or again after it waited. `dayCost` is present if a person answered the question
   * about the daily budget. It is a copy of the `dayCost` of that question.
   */
  | { type: 'task.working'; dayCost?: DayCost }
  /** The task has read the workspace's instruction files. All its turns use these texts, even after a restart. */
  | { type: 'instructions.read'; files: readonly InstructionFile[] }
  /** A request to the model begins. */
  | { type: 'turn.started'; turn: number; model: string }
  /** A part of the model's answer. */
  | { type: 'text.delta'; turn: number; text: string }
  /** The model's reasoning. It is not part of the answer. Only clients that request it receive it. */
  | { type: 'reasoning.delta'; turn: number; text: string }
  /** With `append`, the parts extend the artifact of the same turn. Otherwise they replace its parts. */
  | { type: 'artifact.updated'; turn: number; artifact: Artifact; append: boolean; lastChunk: boolean }
  /** The ACP agent's own session id. A new process of the agent resumes the conversation by this id. */
  | { type: 'agent.session'; turn: number; agentSessionId: string }
  /** A note about progress. It is not part of the answer. */
  | { type: 'turn.noted'; turn: number; text: string }
  /** The turn ended the work with open to-dos. The next request contains `text`, which reminds the model of them. */
  | { type: 'todos.reminded'; turn: number; text: string }
  /** The model requests a tool call, and the policy has judged it. */
  | { type: 'tool.requested'; turn: number; call: RequestedCall; verdict: PolicyVerdict }
  /**
   * The model's answer is complete. `usd` is the cost in US dollars, by the prices at that time. It is absent if the
   * model has no price. `replay` is data that later requests return to the model. Old journals have no `replay`.
   */
  | {
      type: 'turn.finished';
      turn: number;
      end: TurnEnd;
      usage: TokenUsage;
      usd?: number;
      replay?: TurnReplayData;
    }
  /**
   * The model call failed, or the server stopped. The task ignores the turn's output. Unless the task fails, the next
   * turn calls the model again.
   */
  | { type: 'turn.abandoned'; turn: number; reason: string }
  /**
   * The model is not available. The task calls the model again at `until` (milliseconds since 1970). `attempts` is the
   * number of failures in a row. `text` explains the failure to a person.
   */
  | { type: 'model.unavailable'; attempts: number; until: number; text: string }
  /**
   * In later requests, this summary replaces the conversation up to the turn `upTo`. `model` wrote it, and `usage` is
   * its cost. If no model could write a summary, `model` is null. The text then lists the omitted calls.
   */
  | {
      type: 'context.summarised';
      upTo: TurnRef;
      summary: string;
      model: string | null;
      usage: TokenUsage;
      usd?: number;
    }
  /** In later requests, each answer and result up to the turn `upTo` has at most `chars` characters. */
  | { type: 'context.clipped'; upTo: TurnRef; chars: number }
  /** The provider refused the conversation as too long. The task shortens the conversation and sends it once more. */
  | { type: 'context.exceeded' }
  /**
   * The task waits for decisions on its pending actions. Without pending actions, it waits for a reply (to `question`,
   * if present). `expiresAt` (RFC 3339) is the deadline for the reply. If null or absent, there is no deadline. Each
   * pending action has its own deadline. `budget` means that the budget is spent. The question then asks whether to
   * continue. `dayCost` means that the principal's daily budget is spent. The question then asks for more money on that
   * day.
   */
  | {
      type: 'input.required';
      pending: RecordedPendingAction[];
      question?: string;
      budget?: true;
      dayCost?: DayCost;
      expiresAt?: string | null;
    }
  /** The person must sign in as `question` explains, and then send a reply. */
  | { type: 'auth.required'; question: string; expiresAt?: string | null }
  /** A person has decided on a waiting tool call. */
  | {
      type: 'tool.decided';
      callId: string;
      tool: string;
      title: string;
      decision: DecisionWord;
      scope: DecisionScope;
      by: Decider;
      inputHash: string;
      reason: string | null;
      /** The limits of the grant that the decision creates. If absent, the grant ends with the task. */
      grant?: GrantLimits;
      /** The validated answer. Present only for the decision `answer`. */
      answer?: Answer;
      /** The edited call, which will run. Null for every decision except `edit`. */
      edited: Pick<RequestedCall, 'title' | 'input' | 'inputHash' | 'preview' | 'basis'> | null;
      /** The verified assertion of the person's passkey. Absent if the decision has none. */
      presence?: PresenceProof;
      /** The demand that the approver meets. Absent if nothing was demanded. */
      approver?: ApproverDemand;
    }
  /** A person has revoked grants. These grants no longer cover later calls, or calls that have not started. */
  | { type: 'grant.revoked'; grantIds: string[]; by: Decider }
  /** A tool execution begins. This event is durable before the tool has side effects. */
  | { type: 'tool.started'; callId: string; tool: string; title: string; toolId: string }
  /**
   * A running tool asks the person a question. The question is a separate call without a turn. `askedBy` is the id of
   * the running tool call.
   */
  | { type: 'tool.asked'; call: RequestedCall; askedBy: string }
  /** A question no longer waits, because its tool execution has ended or no longer needs the answer. */
  | { type: 'tool.withdrew'; callId: string; tool: string; title: string }
  /**
   * What a running tool prints. `offset` is the number of characters that the tool execution printed before. Old
   * journals omit it. `kept` marks a complete result that was too long for the model. `progress` has the tool's newest
   * steps.
   */
  | {
      type: 'tool.output';
      callId: string;
      tool: string;
      title: string;
      toolId: string;
      text: string;
      offset?: number;
      kept?: true;
      progress?: ToolProgress;
    }
  /** The old content of files. It is durable before the tool execution changes the files. The change may still fail. */
  | { type: 'files.saved'; callId: string; toolId: string; files: readonly RecordedFileChange[] }
  /** The model has replaced its to-do list. */
  | { type: 'todos.updated'; callId: string; todos: readonly Todo[] }
  /** A tool execution has ended. */
  | {
      type: 'tool.finished';
      callId: string;
      tool: string;
      title: string;
      toolId: string;
      outcome: ToolOutcome;
    }
  /** A person aborts a tool execution that another server runs. That server then stops the tool. */
  | { type: 'abort.requested'; callId: string; toolId: string; principal: string; reason: string }
  /**
   * The tool execution has no outcome, because the server crashed or shut down. With `rerun`, the tool call is
   * repeatable and runs again without a decision.
   */
  | { type: 'tool.interrupted'; callId: string; tool: string; title: string; toolId: string; rerun: boolean }
  /**
   * D6: a killed server left a process of the tool, and the new server could not end it. The task waits for the end of
   * that process. Then it asks a person about the tool call. `group` is the process group id.
   */
  | {
      type: 'process.orphaned';
      callId: string;
      tool: string;
      title: string;
      toolId: string;
      group: number;
      text: string;
    }
  /**
   * The task has not begun: its principal or the server runs as many tasks as the limit allows, or no running server
   * offers its model. `ahead` is the number of tasks of the principal that go first.
   */
  | { type: 'task.queued'; ahead: number; text: string }
  /** The task waits for a server that can open its workspace. No living server has claimed the task for a while. */
  | { type: 'workspace.unavailable'; workspace: string; text: string }
  /** The content behind the preview has changed. D2: the tool call waits for a new decision, with a new preview. */
  | {
      type: 'tool.outdated';
      callId: string;
      tool: string;
      title: string;
      preview: Preview;
      basis: string | null;
      /** The file or directory that the preview names after links are resolved. Absent in old journals. */
      place?: string;
    }
  /** The task has ended. `message` is the agent's final message. It is not part of the output. */
  | { type: 'task.completed'; message?: string }
  /**
   * The task has ended with an error. `tooLong` means that the conversation did not fit into the model's context
   * window.
   */
  | { type: 'task.failed'; message: string; tooLong?: true }
  /** A person or a client has cancelled the task. */
  | { type: 'task.canceled'; reason: string; by: Decider }
  /** The agent has refused the task. */
  | { type: 'task.rejected'; message: string };

/** A pending action in the journal. Old journals have no `shown` codes. `shown-code-of-call.ts` adds them. */
export type RecordedPendingAction = Omit<PendingAction, 'shown'> & { shown?: string };

/** An event with its position in the journal. `at` is in milliseconds since 1970. */
export interface JournalEntry {
  seq: number;
  at: number;
  event: TaskEvent;
}
