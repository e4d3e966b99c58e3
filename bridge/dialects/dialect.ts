/**
 * Defines how a kind of A2A agent requests decisions and receives them. Pure: a dialect reads and writes messages, and
 * never sends one.
 */
import type { Part, StreamResponse } from '@a2a-js/sdk';
import type { Answer } from '../../shared/protocol/question.ts';
import { ProductError } from '../../shared/runtime/errors.ts';
import type { CommandCall } from '../../shared/protocol/agent-command.ts';
import type {
  Decision,
  PendingAction,
  RevokePart,
  TaskSettings,
} from '../../shared/protocol/tool-approval.ts';
import type { Observed, Question } from './observation.ts';

/** A person's decision on a call, or answer to a question. A dialect turns it into a message. */
export type PersonDecision =
  | { type: 'decision'; decision: Decision }
  /** `shown` is the code (a hash) of the question as the person saw it (D2). */
  | { type: 'answer'; callId: string; shown: string; answer: Answer };

/** The pending actions and the question at the time when the person saw the task. */
export interface PendingInput {
  pending: readonly PendingAction[];
  question: Question | null;
}

/** The content of a message to the agent. The sender adds the ids. */
export interface MessageContent {
  parts: Part[];
  metadata: Record<string, unknown> | undefined;
  /** Further extensions that the message uses; the metadata already names one. */
  extensions?: readonly string[];
  /** Notes that tell the person which parts of the message this agent ignores. */
  notes?: readonly string[];
  /** A message to send after the agent's turn has ended. */
  afterwards?: string;
}

export const DIALECT_NAMES = ['tool-approval', 'plain', 'gemini'] as const;
export type DialectName = (typeof DIALECT_NAMES)[number];

/** Unsafe behaviour of an agent, against which the bridge must protect the user. */
interface Hazards {
  /**
   * True if the agent aborts its work when a request's socket ends. So each request has its own socket. The bridge
   * resets this socket (RST) and does not close it (FIN).
   */
  readonly socketEndAborts: boolean;
  /**
   * Returns the calls that a message decides. Set for an agent that runs a call once per approval, so the bridge sends
   * only one approval. Null if the agent accepts only the first decision (D1).
   */
  readonly decidedBy: ((parts: readonly Part[]) => readonly string[]) | null;
  /**
   * Returns the ids of the calls that a message approves. Before the bridge sends the message, it compares the files
   * with what the person saw (D2). Null if the agent compares them itself.
   */
  readonly approvedBy: ((parts: readonly Part[]) => readonly string[]) | null;
  /** Explains what may continue after a cancel; null if nothing continues. */
  readonly outlivesCancel: string | null;
}

export const NO_HAZARDS: Hazards = {
  socketEndAborts: false,
  decidedBy: null,
  approvedBy: null,
  outlivesCancel: null,
};

export interface Dialect {
  readonly name: DialectName;
  readonly hazards: Hazards;
  /** True if the state `completed` ends only a turn. The session then continues in the same A2A task. */
  readonly keepsTask: boolean;
  /**
   * Set if the agent asks for the calls of a turn one by one. An approved call runs at once, and a denial drops the
   * later calls. Absent if the agent runs nothing until all calls of the turn are decided.
   */
  readonly asksOneByOne?: true;
  /**
   * True if the client chooses the `contextId`, which is its first message id. The bridge can then find a message whose
   * response was lost.
   */
  readonly clientNamesSession: boolean;
  /** The task settings that the agent does not support. A note informs the person. */
  readonly ignores: readonly (keyof TaskSettings)[];
  read(event: StreamResponse): Observed;
  /** Builds the message for a new task, or for a session that continues. */
  phraseTask(text: string, settings: TaskSettings): MessageContent;
  /**
   * Builds the message for a command.
   * @throws ProductError UNKNOWN_COMMAND if the agent takes no commands as messages; nothing is sent
   */
  phraseCommand(command: CommandCall, settings: TaskSettings): MessageContent;
  /**
   * Builds the message for a person's decisions.
   * @throws ProductError INVALID_DECISION if the agent cannot take such a decision; nothing is sent
   */
  phraseDecisions(decisions: readonly PersonDecision[], asked: PendingInput, channel: string): MessageContent;
  /** Revokes standing approvals. Absent if the agent cannot do this. */
  phraseRevocation?(revoke: RevokePart['revoke'], channel: string): MessageContent;
}

/** Refuses a command, for agents that take no commands as messages. */
export function refuseCommand(): never {
  throw new ProductError('UNKNOWN_COMMAND', 'The agent offers no commands. Delegate the work as a task.');
}
