import type { TraceContext } from '../../../shared/net/trace-context.ts';
import type { DecisionsPart, RevokePart, TaskSettings } from '../../../shared/protocol/tool-approval.ts';
import type { Requester } from '../../access/requester.ts';
import type { CommandKey, FileBytes } from '../../journal/journal.ts';
import type { UserMessage } from '../../task/events.ts';
import type { ExpectedGeneration } from '../../task/generation.ts';

/** A message from a client, after the transport has parsed it. */
export interface ClientMessage extends Requester {
  channel: string;
  message: UserMessage;
  contents?: readonly FileBytes[];
  /** SHA-256 of the canonical message, in hex. A repeated message must have the same hash. */
  bodyHash: string;
  taskId?: string;
  /**
   * The generation of the task (`task/generation.ts`) that the sender expects. The server ignores it if the message
   * starts a task.
   */
  expectedGeneration?: ExpectedGeneration;
  trace?: TraceContext | undefined;
  /**
   * The session to continue. The message goes to the session's live task. If the session has no live task, the message
   * starts a new task.
   */
  sessionId?: string;
  settings: TaskSettings;
  /**
   * True if the words `approve` and `deny` are decisions. A client without the approval extension has no other way to
   * decide. From other clients, the words are plain text.
   */
  wordsDecide: boolean;
  /**
   * True if the sender may approve. Otherwise, the message cannot extend a budget, and a new task gets no default mode
   * that runs calls unasked. The default is true.
   */
  mayApprove?: boolean;
  /**
   * True if the sender may send messages to the agent. Otherwise, the message must decide tool calls or revoke grants.
   * The default is true.
   */
  mayDelegate?: boolean;
  /** The decisions, if the message decides tool calls. The model then does not get the message's text. */
  decisions?: DecisionsPart;
  /** The grants to revoke, if the message revokes grants. The model then does not get the message's text. */
  revoke?: RevokePart['revoke'];
}

/** True if the message decides tool calls or revokes a grant. Such a message starts no task. */
export function isDecisionOrRevocation({ decisions, revoke }: ClientMessage): boolean {
  return decisions !== undefined || revoke !== undefined;
}

export function commandKeyOf({ principal, message, bodyHash }: ClientMessage): CommandKey {
  return { principal, messageId: message.messageId, bodyHash };
}
