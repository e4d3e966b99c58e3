/** Builds the requests that send a message to an A2A agent, for the HTTP+JSON binding of A2A 1.0. */
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

/** A2A 1.0 §3.2.1: the parameters of SendMessage and SendStreamingMessage. JSON omits undefined fields. */
export interface SendMessageRequest {
  message: WireUserMessage;
  configuration?: { returnImmediately: boolean };
}

interface WireUserMessage {
  messageId: string;
  role: 'ROLE_USER';
  contextId: string | undefined;
  taskId: string | undefined;
  parts: readonly Part[];
  metadata?: { [TOOL_APPROVAL_EXTENSION]: NewTaskSettings };
}

/** A2A 1.0 §4.1.6. */
type Part = { text: string } | FilePart | { data: ExtensionData; mediaType: 'application/json' };

interface FilePart {
  /** The bytes in base64. */
  raw: string;
  filename: string;
}

type ExtensionData =
  | { extension: typeof AGENT_COMMAND_EXTENSION; command: string; args: readonly string[] }
  | { extension: typeof TOOL_APPROVAL_EXTENSION; revoke: GrantsToRevoke; channel: string }
  | { extension: typeof TOOL_APPROVAL_EXTENSION; decisions: readonly Decision[]; channel: string };

type NewTaskSettings = Pick<A2aTaskRequest, 'workspace' | 'autoExecute' | 'readOnly' | 'mode' | 'model'>;

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

export function newTaskMessage(request: A2aTaskRequest, messageId: string): SendMessageRequest {
  const { text, sessionId, workspace, autoExecute, readOnly, mode, model, files = [] } = request;
  return createRequest(
    [{ text }, ...files.map(filePart)],
    { messageId, sessionId },
    { workspace, autoExecute, readOnly, mode, model },
  );
}

function filePart({ name, content }: FileToSend): FilePart {
  return { raw: base64Of(content), filename: name };
}

/** Encodes bytes in base64. It does not use `Buffer`, which browsers do not have. */
function base64Of(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCodePoint(byte)).join(''));
}

function dataPart(data: ExtensionData): Part {
  return { data, mediaType: 'application/json' };
}

export function textMessage(text: string, to: MessageAddress): SendMessageRequest {
  return createRequest([{ text }], to);
}

/** Builds the message that runs a command of the agent (extension `agent-command`). */
export function commandMessage(
  { command, args = [], sessionId, workspace }: CommandRequest,
  messageId: string,
): SendMessageRequest {
  return createRequest(
    [dataPart({ extension: AGENT_COMMAND_EXTENSION, command, args })],
    { messageId, sessionId },
    { workspace },
  );
}

/** Returns the agent command that makes one tool call. */
export function toToolCommand({ tool, input = {}, workspace }: ToolRequest): CommandRequest {
  return { command: RUN_TOOL_COMMAND, args: [tool, JSON.stringify(input)], workspace };
}

export function revokeMessage(
  grants: GrantsToRevoke,
  { channel, ...to }: MessageAddress & { channel: string },
): SendMessageRequest {
  return createRequest([dataPart({ extension: TOOL_APPROVAL_EXTENSION, revoke: grants, channel })], to);
}

/**
 * D2: a decision is valid only for what the person saw. The caller supplies the code of what the person saw (`shown`)
 * with each decision. This function adds no code.
 */
export function decisionsMessage(
  decisions: readonly Decision[],
  { channel, ...to }: MessageAddress & { channel: string },
): SendMessageRequest {
  return createRequest([dataPart({ extension: TOOL_APPROVAL_EXTENSION, decisions, channel })], to);
}

function createRequest(
  parts: readonly Part[],
  { messageId, sessionId, taskId }: MessageAddress,
  settings?: NewTaskSettings,
): SendMessageRequest {
  const metadata = settings && { [TOOL_APPROVAL_EXTENSION]: settings };
  return {
    message: {
      messageId,
      role: 'ROLE_USER',
      contextId: sessionId,
      taskId,
      parts,
      ...(metadata && { metadata }),
    },
  };
}
