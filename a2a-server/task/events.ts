/**
 * The events of a task's journal. An event is a fact. It is durable before any code acts on it or sends it.
 *
 * State changes are explicit (`task.working`, `input.required`, `task.completed` …). Each event contains all data that
 * a client needs from it. So a reader can convert an event to A2A without the earlier events.
 */
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
import type { InstructionFile } from './instructions.ts';
import type { StoredFile } from './stored-file.ts';
import type { TurnReplay } from './turn-replay.ts';

/** Text or structured data. The agent gets the data unchanged. */
type TextOrData = { type: 'text'; text: string } | { type: 'data'; data: unknown };

/** One part of a person's message. */
export type MessagePart = TextOrData | { type: 'stored-file'; file: StoredFile };

/** One part of an agent's output: text, data, or a file as content or URL. */
export type ContentPart =
  | TextOrData
  | { type: 'file'; base64: string; name?: string | undefined; mediaType?: string | undefined }
  | { type: 'file-url'; url: string; name?: string | undefined; mediaType?: string | undefined };

/** An agent's output that is not its text. The agent chooses the id, which is unique within the task. */
export interface Artifact {
  artifactId: string;
  name: string;
  description: string;
  parts: readonly ContentPart[];
}

/** An accepted message from the client. */
export interface UserMessage {
  messageId: string;
  parts: MessagePart[];
  /** The agent runs this command. The message does not go to a model. */
  command?: CommandCall;
  /** The client's own data about the message. It is in the history, but the model does not get it. */
  metadata?: Record<string, unknown>;
  /** The URIs of the extensions that the message uses. */
  extensions?: readonly string[];
  /** Related tasks. */
  referenceTaskIds?: readonly string[];
}

/** A tool call: the model's request, and the preview that the person sees. */
export interface RequestedCall {
  callId: string;
  /** The model's own id for the call. It is unique only within its turn. */
  modelCallId: string;
  tool: string;
  title: string;
  input: Record<string, unknown>;
  inputHash: string;
  sideEffect: SideEffect;
  /**
   * True if a second run of a call that needs approval has no further effect, e.g. of a GET request. Read-only calls
   * are always repeatable.
   */
  repeatable?: boolean;
  source: ToolSource;
  preview: Preview;
  /** A hash of the content behind the preview, such as a file's content (D2). Null if the tool has no such content. */
  basis: string | null;
}

/** The reason why a call may run without asking. */
export type AllowReason =
  | { type: 'read-only' }
  | { type: 'auto-execute' }
  | { type: 'accept-edits' }
  /** The name of an operator's rule. */
  | { type: 'rule'; rule: string }
  /** Old journals have no `grantId`. */
  | { type: 'grant'; scope: DecisionScope; callId: string; grantId?: string };

/**
 * Policy's verdict on a call.
 *
 * - `ask`: a person decides. `rule` is the rule that requires this. The rule has precedence over modes and grants.
 * - `question`: the call is a question to a person. No rule or grant can answer it, and no tool runs.
 * - `allow`: the call runs.
 * - `refuse`: the call cannot run (unknown tool, invalid input, denied by a rule). The model gets `message`.
 */
export type PolicyVerdict =
  | { type: 'ask'; rule?: string }
  | { type: 'question' }
  | { type: 'allow'; because: AllowReason }
  | { type: 'refuse'; message: string };

/** The principal who decided, and the channel. */
export interface Decider {
  principal: string;
  channel: string;
}

/** The state of a file. `mode` is its permissions, because a restoration may create the file again. */
export type FileState =
  | { type: 'content'; hash: string; bytes: number; mode?: number }
  | { type: 'absent' }
  /** The server did not save the content, so it cannot restore the file. `why` is the reason. */
  | { type: 'not-saved'; why: string };

/** A file that a tool execution changes. The path is relative to the workspace. */
export interface SavedFile {
  path: string;
  before: FileState;
  after: FileState;
}

/**
 * The outcome of a tool execution. `text` is for the model and already has its maximum length. The append with this
 * outcome contains the contents of `files`.
 */
export type ToolOutcome =
  | { type: 'ok'; text: string; summary: string; files?: readonly StoredFile[] }
  | { type: 'error'; message: string }
  | {
      type: 'stopped';
      reason: StopReason;
      /** False if the tool did not stop within its grace period. It may have an effect later. */
      confirmed: boolean;
      message: string;
      /** The output until the stop. */
      text: string;
    };

/** Token counts, as the provider reports them. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  /** The input tokens from the provider's cache, which cost less. Absent if there are no such tokens. */
  cachedInputTokens?: number;
  /** The input tokens that the provider wrote to its cache, which may cost more. Absent if there are no such tokens. */
  cacheWriteTokens?: number;
}

/**
 * The end of a model turn. A string is a finish reason that all models have. An object is an agent's request for its
 * task: to end with a message, to wait for a reply (`question` null: no question), or to wait for a sign-in.
 */
export type TurnEnd =
  | 'stop'
  | 'tool-calls'
  | 'length'
  /** No text and no calls. */
  | 'empty'
  | 'content-filter'
  | { type: 'completed' | 'failed' | 'rejected'; message: string }
  | { type: 'input-required'; question: string | null }
  | { type: 'auth-required'; question: string };

/** The cost of a principal's tasks on a UTC day, in US dollars. `day` counts the days since 1970-01-01. */
export interface DayCost {
  day: number;
  usd: number;
}

/** A turn of any task in the session. */
export interface TurnPlace {
  taskId: string;
  turn: number;
}

export type TaskEvent =
  /** `answer`: the client gets only the agent's last text as a message, and no task (A2A 1.0 §3.1.1). */
  | { type: 'task.created'; sessionId: string; principal: string; settings: TaskSettings; answer?: 'message' }
  | { type: 'message.received'; message: UserMessage; channel: string }
  /**
   * `dayCost`: a person answered the question about the budget per day. `dayCost` is the cost of the day when the
   * server asked.
   */
  | { type: 'task.working'; dayCost?: DayCost }
  /** The task has read the workspace's instruction files. Its turns get these texts, also after a restart. */
  | { type: 'instructions.read'; files: readonly InstructionFile[] }
  | { type: 'turn.started'; turn: number; model: string }
  | { type: 'text.delta'; turn: number; text: string }
  /** The model's reasoning. It is not part of the answer. Only clients that ask for it see it. */
  | { type: 'reasoning.delta'; turn: number; text: string }
  /** With `append`, the parts extend the artifact of the same turn. Otherwise they replace it. */
  | { type: 'artifact.updated'; turn: number; artifact: Artifact; append: boolean; lastChunk: boolean }
  /** The ACP agent's own session id. With this id, a new process of the agent can continue the conversation. */
  | { type: 'agent.session'; turn: number; agentSessionId: string }
  /** A progress message of the agent. It is not part of the answer. */
  | { type: 'turn.noted'; turn: number; text: string }
  | { type: 'tool.requested'; turn: number; call: RequestedCall; verdict: PolicyVerdict }
  /**
   * `usd`: the cost in US dollars, by the prices at that time. Absent if the model has no price. `replay`: the data
   * that later turns send back to the model. Old journals have no such data.
   */
  | { type: 'turn.finished'; turn: number; end: TurnEnd; usage: Usage; usd?: number; replay?: TurnReplay }
  /** The turn's model call failed. The task ignores its output, and the next turn calls the model again. */
  | { type: 'turn.abandoned'; turn: number; reason: string }
  /**
   * The model is not available. The task calls it again at `until` (milliseconds since the epoch). `attempts` is the
   * number of failures in a row. `text` explains the failure to a person.
   */
  | { type: 'model.unavailable'; attempts: number; until: number; text: string }
  /**
   * From now on the model sees this summary instead of all passages up to this turn. `model` wrote it, and `usage` is
   * its cost. If no model could write a summary, `model` is null, and the text lists the omitted calls.
   */
  | {
      type: 'context.summarised';
      upTo: TurnPlace;
      summary: string;
      model: string | null;
      usage: Usage;
      usd?: number;
    }
  /** From now on the model sees at most `chars` characters of each answer and each result up to this turn. */
  | { type: 'context.clipped'; upTo: TurnPlace; chars: number }
  /** The provider refused the conversation as too long. The task shortens it and sends it again once. */
  | { type: 'context.exceeded' }
  /**
   * The task waits for decisions on its pending actions. If there are no pending actions, the task waits for a reply
   * (to `question`, if present). `expiresAt` (RFC 3339) is the deadline for the reply. Null or absent means no
   * deadline. Each pending action has its own deadline. `budget`: the budget is spent, and the question asks whether to
   * continue. `dayCost`: the principal's budget per day is spent, and the question asks whether to allow a higher cost
   * on that day.
   */
  | {
      type: 'input.required';
      pending: RecordedAction[];
      question?: string;
      budget?: true;
      dayCost?: DayCost;
      expiresAt?: string | null;
    }
  /** The person must sign in as `question` explains, and then reply. */
  | { type: 'auth.required'; question: string; expiresAt?: string | null }
  | {
      type: 'tool.decided';
      callId: string;
      tool: string;
      title: string;
      decision: DecisionWord;
      scope: DecisionScope;
      by: Decider;
      /** The hash of the input that the person decided on. */
      inputHash: string;
      reason: string | null;
      /** The limits of the grant that the scope creates. If absent, the grant ends with the task. */
      grant?: GrantLimits;
      /** The checked answer. Only with `answer`. */
      answer?: Answer;
      /** The edited call, which will run. Only with `edit`. */
      edited: Pick<RequestedCall, 'title' | 'input' | 'inputHash' | 'preview' | 'basis'> | null;
    }
  /** A person revoked grants. */
  | { type: 'grant.revoked'; grantIds: string[]; by: Decider }
  | { type: 'tool.started'; callId: string; tool: string; title: string; toolId: string }
  /**
   * A running tool asks the person a question and waits for the answer. The question is a separate call without a turn.
   * `askedBy` is the running call.
   */
  | { type: 'tool.asked'; call: RequestedCall; askedBy: string }
  /** A question no longer applies: its tool execution has ended or no longer needs the answer. */
  | { type: 'tool.withdrew'; callId: string; tool: string; title: string }
  /**
   * `offset`: the number of characters that the execution printed before; old journals omit it. `kept`: the text is not
   * live output. It is a complete result that was too long for the model. `progress`: the tool's newest steps.
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
  /** The old content of files, durable before the tool execution changes them. The change may still fail. */
  | { type: 'files.saved'; callId: string; toolId: string; files: readonly SavedFile[] }
  /** The agent's new to-do list. It replaces the old one. */
  | { type: 'todos.updated'; callId: string; todos: readonly Todo[] }
  | {
      type: 'tool.finished';
      callId: string;
      tool: string;
      title: string;
      toolId: string;
      outcome: ToolOutcome;
    }
  /** A crash lost the outcome of the tool execution. `rerun`: the call is repeatable and runs again without asking. */
  | { type: 'tool.interrupted'; callId: string; tool: string; title: string; toolId: string; rerun: boolean }
  /**
   * D6: the server of this execution was killed. A process of the tool may still run, and the new server could not end
   * it. The task waits for the end of that process, and then asks a person about the call. `group` is the process group
   * id.
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
  /** The content behind the preview has changed. The call waits again with a new preview (D2). */
  | {
      type: 'tool.outdated';
      callId: string;
      tool: string;
      title: string;
      preview: Preview;
      basis: string | null;
    }
  /** `message`: the agent's final message, in addition to its output. */
  | { type: 'task.completed'; message?: string }
  /** `tooLong`: the conversation did not fit into the model's context window. */
  | { type: 'task.failed'; message: string; tooLong?: true }
  | { type: 'task.canceled'; reason: string; by: Decider }
  | { type: 'task.rejected'; message: string };

/** A pending action in the journal. Old journals have no codes; `shown.ts` adds them. */
export type RecordedAction = Omit<PendingAction, 'shown'> & { shown?: string };

/** An event with its position in the journal. `at` is in milliseconds since the epoch. */
export interface JournalEntry {
  seq: number;
  at: number;
  event: TaskEvent;
}
