/**
 * What a task's journal holds. An event is a fact: it is durable before anybody acts on it or hears of it.
 *
 * State changes are explicit (`task.working`, `input.required`, `task.completed` …), and each event carries all that a
 * client's view of it needs: a reader in the middle of a long journal translates it without folding what came before.
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
  ToolSource,
} from '../../shared/protocol/tool-approval.ts';

/** One part of a message from a person: text, or structured data passed on as it came. */
export type MessagePart = { type: 'text'; text: string } | { type: 'data'; data: unknown };

/** A piece of what an agent gives: text, data, or a file by its content or its address. */
export type ContentPart =
  | MessagePart
  | { type: 'file'; base64: string; name?: string | undefined; mediaType?: string | undefined }
  | { type: 'file-url'; url: string; name?: string | undefined; mediaType?: string | undefined };

/** What an agent gives beside its words. The id is its own choice, unique within the task. */
export interface Artifact {
  artifactId: string;
  name: string;
  description: string;
  parts: readonly ContentPart[];
}

/** A message from the client, as accepted. */
export interface UserMessage {
  messageId: string;
  parts: MessagePart[];
  /** It is not for the model: the agent carries this out. */
  command?: CommandCall;
}

/** A tool call the model asked for, as it was shown and hashed. */
export interface RequestedCall {
  callId: string;
  /** The id the model gave the call; unique within its turn only. */
  modelCallId: string;
  tool: string;
  title: string;
  input: Record<string, unknown>;
  inputHash: string;
  sideEffect: SideEffect;
  /**
   * True where running it again changes nothing that running it once did not, though it has to be asked for (a GET). What is
   * read-only is so anyway.
   */
  repeatable?: boolean;
  source: ToolSource;
  preview: Preview;
  /** Hash of what the preview was made from (a file's content), where the tool has such a thing (D2). */
  basis: string | null;
}

/** Why a call may run without a question. */
export type Allowance =
  | { type: 'read-only' }
  | { type: 'auto-execute' }
  | { type: 'accept-edits' }
  /** A rule of the operator's, by its name. */
  | { type: 'rule'; rule: string }
  /** `grantId`: absent in journals of before. */
  | { type: 'grant'; scope: DecisionScope; callId: string; grantId?: string };

/**
 * What policy said of a call. `refuse`: it cannot run at all (unknown tool, invalid input, denied by a rule); the model is
 * told why. `rule`: the one for which a person is asked, whatever else would have let the call run. `question`: it is one,
 * to be answered by a person, and never runs; no rule or trust answers for them.
 */
export type Verdict =
  | { type: 'ask'; rule?: string }
  | { type: 'question' }
  | { type: 'allow'; because: Allowance }
  | { type: 'refuse'; message: string };

/** Who decided, and through which channel. */
export interface Decider {
  principal: string;
  channel: string;
}

/** What a file was, or is about to be. `mode`: its permissions, of one that may have to be made again. */
export type FileState =
  | { type: 'content'; hash: string; bytes: number; mode?: number }
  | { type: 'absent' }
  /** It was not kept, and cannot be put back: why. */
  | { type: 'not-saved'; why: string };

/** A file that a tool execution changes, by its path in the workspace. */
export interface SavedFile {
  path: string;
  before: FileState;
  after: FileState;
}

/** How a tool execution ended. `text` is what the model sees, already capped. */
export type ToolOutcome =
  | { type: 'ok'; text: string; summary: string }
  | { type: 'error'; message: string }
  | {
      type: 'stopped';
      reason: StopReason;
      /** False when the tool had not answered within its grace period: it may still have had an effect. */
      confirmed: boolean;
      message: string;
      /** What had been put out by then. */
      text: string;
    };

/** Tokens as the model's provider counts them. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
  /** Of the input tokens, those the provider had from before and charges less for; absent where there were none. */
  cachedInputTokens?: number;
}

/**
 * How a model turn ended: for one of the reasons all models have or, where an agent says so itself, with what it wants of
 * the task: to end it in so many words, to wait for a reply (`question` null: it asks nothing), or for a sign-in.
 */
export type TurnEnd =
  | 'stop'
  | 'tool-calls'
  | 'length'
  /** It said nothing and asked for nothing. */
  | 'empty'
  | 'content-filter'
  | { type: 'completed' | 'failed' | 'rejected'; message: string }
  | { type: 'input-required'; question: string | null }
  | { type: 'auth-required'; question: string };

/** A turn of a task of the session. */
export interface TurnPlace {
  taskId: string;
  turn: number;
}

export type TaskEvent =
  /** `answer`: the client gets the agent's last words as a bare message, and no task (A2A 1.0 §3.1.1). */
  | { type: 'task.created'; sessionId: string; principal: string; settings: TaskSettings; answer?: 'message' }
  | { type: 'message.received'; message: UserMessage; channel: string }
  | { type: 'task.working' }
  | { type: 'turn.started'; turn: number; model: string }
  | { type: 'text.delta'; turn: number; text: string }
  /** `append`: the parts are added to those of an artifact of the same turn; otherwise they take its place. */
  | { type: 'artifact.updated'; turn: number; artifact: Artifact; append: boolean; lastChunk: boolean }
  /** An agent of its own remembers the conversation under this id: with it, another process of it can go on. */
  | { type: 'agent.session'; turn: number; agentSessionId: string }
  /** What the agent says of where it is; no part of its answer. */
  | { type: 'turn.noted'; turn: number; text: string }
  | { type: 'tool.requested'; turn: number; call: RequestedCall; verdict: Verdict }
  /** `usd`: what it cost, in US dollars, by the prices set at that time; absent where its model has none. */
  | { type: 'turn.finished'; turn: number; end: TurnEnd; usage: Usage; usd?: number }
  /** The turn's model call was cut off; what it had said is void and it is asked again. */
  | { type: 'turn.abandoned'; turn: number; reason: string }
  /**
   * The model cannot answer for a while. It is asked again at `until` (milliseconds since the epoch), after so many
   * attempts in a row have failed; `text` says so to a person.
   */
  | { type: 'model.unavailable'; attempts: number; until: number; text: string }
  /**
   * What was said and done up to this turn is shown to the model as this summary from here on. `model`: who wrote it, and
   * what that used; null where none could, and it says what was left out.
   */
  | {
      type: 'context.summarised';
      upTo: TurnPlace;
      summary: string;
      model: string | null;
      usage: Usage;
      usd?: number;
    }
  /** The model is shown no more than so many characters of each answer and each result up to this turn. */
  | { type: 'context.clipped'; upTo: TurnPlace; chars: number }
  /** The model's provider refused the conversation because it is too long: it is made shorter and sent once more. */
  | { type: 'context.exceeded' }
  /**
   * Pending actions wait for decisions; where there are none, the task waits for a reply: to `question`, if it asks one.
   * `expiresAt` (RFC 3339): until when a reply is waited for; null or absent for as long as it takes. Each pending action
   * has its own. `budget`: the question is whether the task goes on, for its budget is spent.
   */
  | {
      type: 'input.required';
      pending: RecordedAction[];
      question?: string;
      budget?: true;
      expiresAt?: string | null;
    }
  /** A person has to sign in somewhere, as `question` says, and then to reply. */
  | { type: 'auth.required'; question: string; expiresAt?: string | null }
  | {
      type: 'tool.decided';
      callId: string;
      tool: string;
      title: string;
      decision: DecisionWord;
      scope: DecisionScope;
      by: Decider;
      /** The hash of the input that was decided on. */
      inputHash: string;
      reason: string | null;
      /** How long the trust lasts that the scope gives; for as long as the task where it is left out. */
      grant?: GrantLimits;
      /** For an answer: what was answered, as the question takes it. */
      answer?: Answer;
      /** For an edit: the call as it will run. */
      edited: Pick<RequestedCall, 'title' | 'input' | 'inputHash' | 'preview' | 'basis'> | null;
    }
  /** Trust is taken back. */
  | { type: 'grant.revoked'; grantIds: string[]; by: Decider }
  | { type: 'tool.started'; callId: string; tool: string; title: string; toolId: string }
  /**
   * A tool execution asks the person something and waits for the answer. The question is a call of its own, which stands in
   * no turn; `askedBy` is the call that runs.
   */
  | { type: 'tool.asked'; call: RequestedCall; askedBy: string }
  /** Nobody waits for the answer to this question any more: the tool execution has ended, or let go of it. */
  | { type: 'tool.withdrew'; callId: string; tool: string; title: string }
  /**
   * `offset`: how many characters the execution had put out before; old journals do not say it. `kept`: not live, but the
   * whole of a result that was too long for the model, for whoever asks for it.
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
    }
  /** What a tool execution is about to change has been kept. Durable before the change, which may yet not come about. */
  | { type: 'files.saved'; callId: string; toolId: string; files: readonly SavedFile[] }
  /** The agent's list of things to do, in the place of the one before. */
  | { type: 'todos.updated'; callId: string; todos: readonly Todo[] }
  | {
      type: 'tool.finished';
      callId: string;
      tool: string;
      title: string;
      toolId: string;
      outcome: ToolOutcome;
    }
  /** A crash took the tool execution's outcome. `rerun` when the call is repeatable and just runs again. */
  | { type: 'tool.interrupted'; callId: string; tool: string; title: string; toolId: string; rerun: boolean }
  /**
   * D6: the server that ran this was killed, and processes of it may still run and could not be ended. The task waits for
   * their end before a person is asked about the call. `group`: the process group's id.
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
  /** What was shown is no longer what is there: the call waits again, with a new preview (D2). */
  | {
      type: 'tool.outdated';
      callId: string;
      tool: string;
      title: string;
      preview: Preview;
      basis: string | null;
    }
  /** `message`: what the agent says at the end beside what it has given. */
  | { type: 'task.completed'; message?: string }
  | { type: 'task.failed'; message: string }
  | { type: 'task.canceled'; reason: string; by: Decider }
  | { type: 'task.rejected'; message: string };

/** A pending action as the journal holds it. Older journals have no codes: `shown.ts` fills them in. */
export type RecordedAction = Omit<PendingAction, 'shown'> & { shown?: string };

/** An event with its place in the journal. `at` is in milliseconds since the epoch. */
export interface JournalEntry {
  seq: number;
  at: number;
  event: TaskEvent;
}
