/**
 * Builds the A2A message of a delegation. B1: a delegation happens exactly once. So the message depends only on its
 * outbox entry, and every attempt sends the same message.
 */
import { type Message, type Part, Role } from '@a2a-js/sdk';
import { decodeUtf8Text } from '../../shared/protocol/attached-file.ts';
import { TOOL_APPROVAL_EXTENSION } from '../../shared/protocol/tool-approval.ts';
import type { Dialect, MessageContent } from '../dialects/dialect.ts';
import { visibleLine } from '../../shared/text/visible-text.ts';
import type { FileContents } from '../state/outbox.ts';
import type { AttachedFile, OutboxEntry } from '../state/outbox-entry.ts';

export function delegationMessage(
  entry: OutboxEntry,
  dialect: Dialect,
  contents: FileContents = new Map(),
): Message {
  const { messageId, text, settings, command, files = [], sessionId, taskId } = entry;
  const named = dialect.clientNamesSession ? messageId : null;
  const phrase = command ? dialect.phraseCommand(command, settings) : dialect.phraseTask(text, settings);
  const parts = files.flatMap((file) => filePart(file, contents.get(file.hash)) ?? []);
  return buildUserMessage(
    { ...phrase, parts: [...phrase.parts, ...parts] },
    { messageId, sessionId: sessionId ?? named, taskId },
  );
}

/** Converts a file to a message part. A text file becomes a text part, because every agent accepts text. */
function filePart({ name, mediaType }: AttachedFile, content: Uint8Array | undefined): Part | undefined {
  if (content === undefined) return undefined;
  const about = { metadata: undefined, filename: name, mediaType };
  if (mediaType !== 'text/plain') return { content: { $case: 'raw', value: Buffer.from(content) }, ...about };
  const text = `[file ${visibleLine(name)}]\n${decodeUtf8Text(content) ?? ''}`;
  return { content: { $case: 'text', value: text }, ...about };
}

/** Builds a message with the content that a dialect has built. If an id is null, the agent chooses it. */
export function buildUserMessage(
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
      ...(metadata !== undefined && TOOL_APPROVAL_EXTENSION in metadata ? [TOOL_APPROVAL_EXTENSION] : []),
    ],
    referenceTaskIds: [],
  };
}
