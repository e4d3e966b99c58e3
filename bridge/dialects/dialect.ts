/**
 * How one kind of A2A agent phrases pending actions and takes decisions. Pure: a dialect reads and writes messages and
 * never sends one. Which dialect an agent speaks is read from its card.
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

/** A decision in the words of the MCP tool that are also known to a dialect: on a call, or the answer to a question. */
export type Verdict =
  | { type: 'decision'; decision: Decision }
  /** `shown`: the code of the question as the person saw it (D2). */
  | { type: 'answer'; callId: string; shown: string; answer: Answer };

/** What the task was waiting for when it was shown. */
export interface Asked {
  pending: readonly PendingAction[];
  question: Question | null;
}

/** The content of a message to the agent; who sends it adds ids and the task it belongs to. */
export interface Phrase {
  parts: Part[];
  metadata: Record<string, unknown> | undefined;
  /** Extensions it makes use of, beside the one its metadata names. */
  extensions?: readonly string[];
  /** What the agent does not understand of it; the person should know. */
  notes?: readonly string[];
  /** A message to send once the turn of the agent has ended. */
  afterwards?: string;
}

export const DIALECT_NAMES = ['tool-approval', 'plain', 'gemini'] as const;
export type DialectName = (typeof DIALECT_NAMES)[number];

/** What a client has to take care of, because the agent does not. */
export interface Hazards {
  /** The agent stops working when the socket of a request is ended: each has its own, and it is reset instead. */
  readonly socketEndAborts: boolean;
  /**
   * The calls that a message decides, where the agent runs a call once for each approval of it: only one may leave. Null where
   * the agent takes the first and no other (D1).
   */
  readonly decidedBy: ((parts: readonly Part[]) => readonly string[]) | null;
  /**
   * The calls that a message lets run, where the agent does not compare a file with what the person was shown: the bridge does,
   * before the message leaves. Null where the agent does (D2).
   */
  readonly approvedBy: ((parts: readonly Part[]) => readonly string[]) | null;
  /** What may go on after a cancel, as a sentence; null for nothing. */
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
  /** `completed` is the end of a turn: the session goes on in the same A2A task, which holds the conversation. */
  readonly keepsTask: boolean;
  /**
   * The agent asks for the calls of a turn one after the other: an approved call runs at once, and a denial drops the calls after
   * it. Absent where nothing runs until all calls of the turn are decided.
   */
  readonly asksOneByOne?: true;
  /** The client names the session (`contextId`), with its first message id: so a lost answer can be looked for. */
  readonly clientNamesSession: boolean;
  /** What of `TaskSettings` the agent cannot be told; the person should know. */
  readonly ignores: readonly (keyof TaskSettings)[];
  read(event: StreamResponse): Observed;
  /** A piece of work, or a message to a session. */
  phraseTask(text: string, settings: TaskSettings): Phrase;
  /** @throws ProductError UNKNOWN_COMMAND when the agent takes no command as a message. Nothing is sent then. */
  phraseCommand(command: CommandCall, settings: TaskSettings): Phrase;
  /** @throws ProductError INVALID_DECISION when the agent has no way to take such a verdict. Nothing is sent then. */
  phraseVerdicts(verdicts: readonly Verdict[], asked: Asked, channel: string): Phrase;
  /** Takes back trust. Left out where the agent has no words for that. */
  phraseRevocation?(revoke: RevokePart['revoke'], channel: string): Phrase;
}

/** For agents that know no such message. */
export function noCommand(): never {
  throw new ProductError(
    'UNKNOWN_COMMAND',
    'The agent carries out no commands. Delegate it as a task in words.',
  );
}
