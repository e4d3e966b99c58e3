/** Builds the A2A message of a delegation from its outbox entry alone. So every attempt sends the same message (B1). */
import { type Message, Role } from '@a2a-js/sdk';
import { TOOL_APPROVAL } from '../../shared/protocol/tool-approval.ts';
import type { Dialect, MessageContent } from '../dialects/dialect.ts';
import type { OutboxEntry } from '../state/outbox-entry.ts';

export function delegationMessage(entry: OutboxEntry, dialect: Dialect): Message {
  const { messageId, text, settings, command, sessionId, taskId } = entry;
  const named = dialect.clientNamesSession ? messageId : null;
  const phrase = command ? dialect.phraseCommand(command, settings) : dialect.phraseTask(text, settings);
  return messageOf(phrase, { messageId, sessionId: sessionId ?? named, taskId });
}

/** Turns the content that a dialect wrote into a message. The agent chooses ids that are null. */
export function messageOf(
  { parts, metadata, extensions = [] }: MessageContent,
  ids: { messageId: string; sessionId: string | null; taskId: string | null },
): Message {
  return {
    messageId: ids.messageId,
    contextId: ids.sessionId ?? '',
    taskId: ids.taskId ?? '',
    role: Role.ROLE_USER,
    parts,
    metadata,
    // A2A 1.0 §4.6.2: a message lists the extensions that it uses.
    extensions: [
      ...extensions,
      ...(metadata !== undefined && TOOL_APPROVAL in metadata ? [TOOL_APPROVAL] : []),
    ],
    referenceTaskIds: [],
  };
}
