/**
 * The interface of a dialect: how one kind of A2A agent asks for decisions and receives them. Pure: a dialect reads and
 * builds messages, and never sends one.
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
import type { ObservedEvent, PlainTextQuestion } from './observation.ts';

/** A person's decision on a call, or an answer to a question. A dialect converts it to a message. */
export type PersonDecision =
  | { type: 'decision'; decision: Decision }
  /** `shown` is the code (a hash) of the question. D2: a decision is valid only for what the person saw. */
  | { type: 'answer'; callId: string; shown: string; answer: Answer };

/** The pending actions and the question, as the person saw them. */
export interface PendingInput {
  pending: readonly PendingAction[];
  question: PlainTextQuestion | null;
}

/** The content of a message to the agent. The ids are added when it is sent. */
export interface MessageContent {
  parts: Part[];
  metadata: Record<string, unknown> | undefined;
  /** URIs of extensions that the message uses, besides the extension whose URI is a key of `metadata`. */
  extensions?: readonly string[];
  /** Notes for the person about parts of the message that this agent ignores. */
  notes?: readonly string[];
  /**
   * A text that the agent cannot accept together with this message. The bridge sends it after the agent has completed
   * its work.
   */
  afterwards?: string;
}

export const DIALECT_NAMES = ['tool-approval', 'plain', 'gemini'] as const;
export type DialectName = (typeof DIALECT_NAMES)[number];

/** The unsafe behaviour of a kind of agent. The bridge protects the user from it. */
interface Hazards {
  /**
   * True if the agent aborts its work when the socket of a request ends (FIN). The bridge then gives each request a
   * socket of its own, and resets it (RST) instead.
   */
  readonly socketEndAborts: boolean;
  /**
   * Returns the ids of the calls that a message decides. Null if the agent itself accepts only the first decision on
   * a call (D1). Any other agent runs the call again for each further approval, so the bridge sends only one
   * decision.
   */
  readonly decidedBy: ((parts: readonly Part[]) => readonly string[]) | null;
  /**
   * Returns the ids of the calls that a message approves. D2: a decision is valid only for what the person saw. So
   * before the bridge sends an approval, the bridge compares the files with the preview that the person saw. Null if
   * the agent itself compares them.
   */
  readonly approvedBy: ((parts: readonly Part[]) => readonly string[]) | null;
  /** Says what may continue after a cancel. Null if nothing continues. */
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
  /** True if the agent continues a session in the same A2A task, even after the state `completed`. */
  readonly keepsTask: boolean;
  /**
   * True if the agent asks about one call of a turn at a time. It runs an approved call at once, and then asks about
   * the next one. After a denial it runs none of the later calls. Absent if the agent runs no call before all calls of
   * the turn are decided.
   */
  readonly asksOneByOne?: true;
  /**
   * True if the bridge chooses the `contextId` of a session: the id of its first message. The bridge can then find the
   * task of a message whose response was lost.
   */
  readonly clientNamesSession: boolean;
  /** The task settings that the agent does not support. A note tells the person about them. */
  readonly ignores: readonly (keyof TaskSettings)[];
  read(event: StreamResponse): ObservedEvent;
  /** Builds the message for a new task, or for a session that continues. */
  phraseTask(text: string, settings: TaskSettings): MessageContent;
  /**
   * Builds the message that runs a command of the agent.
   * @throws ProductError UNKNOWN_COMMAND if the agent accepts no commands as messages. Nothing is sent then.
   */
  phraseCommand(command: CommandCall, settings: TaskSettings): MessageContent;
  /**
   * Builds the message with a person's decisions.
   * @throws ProductError INVALID_DECISION if the agent does not accept such a decision. Nothing is sent then.
   */
  phraseDecisions(decisions: readonly PersonDecision[], asked: PendingInput, channel: string): MessageContent;
  /** Builds the message that revokes grants of trust. Absent if the agent cannot revoke them. */
  phraseRevocation?(revoke: RevokePart['revoke'], channel: string): MessageContent;
}

/** Throws the error of agents that accept no commands as messages. */
export function refuseCommand(): never {
  throw new ProductError('UNKNOWN_COMMAND', 'The agent offers no commands. Delegate the work as a task.');
}
