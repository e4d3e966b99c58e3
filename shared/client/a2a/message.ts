/** Builds messages to an A2A agent for the HTTP+JSON binding of A2A 1.0. */
import {
  AGENT_COMMAND_EXTENSION,
  RUN_TOOL_COMMAND,
  TOOL_APPROVAL_EXTENSION,
} from '../../protocol/extensions.ts';
import type {
  CommandRequest,
  Decision,
  GrantsToRevoke,
  TaskRequest,
  ToolRequest,
} from '../core/task-request.ts';

export const CLIENT_LIBRARY_CHANNEL = 'client-library';

/** The task and the session that a message belongs to, and the id of the new message. */
export interface MessageAddress {
  messageId: string;
  sessionId?: string | undefined;
  taskId?: string;
}

export interface A2aTaskRequest extends TaskRequest {
  /** True to offer the model only read-only tools. */
  readOnly?: boolean | undefined;
  /**
   * The content of each file: an image (PNG, JPEG, GIF, WebP), a PDF, or text in UTF-8. The server determines the type
   * from the bytes. All files together have at most 3,000,000 bytes.
   */
  files?: readonly FileToSend[] | undefined;
}

export interface FileToSend {
  name: string;
  content: Uint8Array;
}

export function requestMessageBody(request: A2aTaskRequest, messageId: string): object {
  const { text, sessionId, workspace, autoExecute, readOnly, mode, model, files = [] } = request;
  return message(
    [{ text }, ...files.map(filePart)],
    { messageId, sessionId },
    { [TOOL_APPROVAL_EXTENSION]: { workspace, autoExecute, readOnly, mode, model } },
  );
}

/** A2A 1.0 §4.1.6: in JSON, a file part contains its bytes in base64. */
function filePart({ name, content }: FileToSend): object {
  return { raw: base64Of(content), filename: name };
}

/** Encodes bytes in base64. It does not use `Buffer`, which browsers do not have. */
function base64Of(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCodePoint(byte)).join(''));
}

function dataPart(data: object): object {
  return { data, mediaType: 'application/json' };
}

export function textMessageBody(text: string, to: MessageAddress): object {
  return message([{ text }], to);
}

/** Builds the message that runs a command of the agent (extension `agent-command`). */
export function commandMessageBody(
  { command, args = [], sessionId, workspace }: CommandRequest,
  messageId: string,
): object {
  return message(
    [dataPart({ extension: AGENT_COMMAND_EXTENSION, command, args })],
    { messageId, sessionId },
    { [TOOL_APPROVAL_EXTENSION]: { workspace } },
  );
}

/** Returns the agent command that makes one tool call. */
export function toToolCommand({ tool, input = {}, workspace }: ToolRequest): CommandRequest {
  return { command: RUN_TOOL_COMMAND, args: [tool, JSON.stringify(input)], workspace };
}

export function revokeMessageBody(
  grants: GrantsToRevoke,
  { channel, ...to }: MessageAddress & { channel: string },
): object {
  return message([dataPart({ extension: TOOL_APPROVAL_EXTENSION, revoke: grants, channel })], to);
}

/**
 * D2: a decision is valid only for what the person saw. The caller supplies the code of that question with each
 * decision. This function adds no code.
 */
export function decisionsMessageBody(
  decisions: readonly Decision[],
  { channel, ...to }: MessageAddress & { channel: string },
): object {
  return message([dataPart({ extension: TOOL_APPROVAL_EXTENSION, decisions, channel })], to);
}

function message(
  parts: object[],
  { messageId, sessionId, taskId }: MessageAddress,
  metadata?: object,
): object {
  // JSON omits undefined fields.
  return { message: { messageId, role: 'ROLE_USER', contextId: sessionId, taskId, parts, metadata } };
}
