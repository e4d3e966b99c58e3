import { Role } from '@a2a-js/sdk';
import type { Artifact, Message, Part } from '@a2a-js/sdk';
import { RESUMABLE_STREAM_EXTENSION } from '../../../shared/protocol/resumable-stream-extension.ts';
import { TOOL_APPROVAL_EXTENSION } from '../../../shared/protocol/extensions.ts';
import type { ArtifactRole, Todo } from '../../../shared/protocol/tool-approval.ts';
import type { Artifact as GivenArtifact, ArtifactPart, MessagePart, UserMessage } from '../../task/events.ts';
import { filePlaceholderLine } from '../../task/stored-file.ts';
import { partInAcceptedMode } from './output-modes.ts';
import type { OutputModes } from './output-modes.ts';
import type { TaskReader } from './reader-decisions.ts';

/** The task and the client's active extensions. Together they decide what the client gets. */
export interface WireOptions {
  taskId: string;
  sessionId: string;
  /**
   * True if `urn:mcp-a2a-bridge:tool-approval:v1` is active. Other clients get no data parts and no metadata of this
   * extension.
   */
  approval: boolean;
  /** True if `urn:mcp-a2a-bridge:resumable-stream:v1` is active. */
  resumable: boolean;
  /** True if `urn:mcp-a2a-bridge:thinking:v1` is active. Other clients get no reasoning. */
  thinking?: boolean;
  /** True if tasks and events have the generation of A2A 1.1. */
  generations?: boolean;
  /** The media types that the client accepts. Absent if the client accepts all. */
  outputModes?: OutputModes;
  /**
   * The person or program that reads the task. Absent if the server does not know the reader, e.g. of a push
   * notification. Such a reader gets all decisions of an action.
   */
  reader?: TaskReader;
}

export function textPart(text: string): Part {
  return partOf({ $case: 'text', value: text });
}

export function dataPart(data: unknown): Part {
  return partOf({ $case: 'data', value: data }, { mediaType: 'application/json' });
}

function toA2aPart(part: ArtifactPart): Part {
  switch (part.type) {
    case 'text':
      return textPart(part.text);
    case 'data':
      return dataPart(part.data);
    case 'file':
      return partOf({ $case: 'raw', value: Buffer.from(part.base64, 'base64') }, part);
    case 'file-url':
      return partOf({ $case: 'url', value: part.url }, part);
  }
}

function partOf(
  content: Part['content'],
  { name = '', mediaType = '' }: { name?: string | undefined; mediaType?: string | undefined } = {},
): Part {
  return { content, metadata: undefined, filename: name, mediaType };
}

export function toA2aMessage(
  options: WireOptions,
  { role, messageId, parts }: { role: 'user' | 'agent'; messageId: string; parts: Part[] },
): Message {
  return {
    messageId,
    contextId: options.sessionId,
    taskId: options.taskId,
    role: role === 'user' ? Role.ROLE_USER : Role.ROLE_AGENT,
    parts,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

/**
 * Converts a part of the client's message. One line of text replaces a file, because a history with all files would be
 * too long.
 */
function sentPart(part: MessagePart): Part {
  return part.type === 'stored-file' ? textPart(filePlaceholderLine(part.file)) : toA2aPart(part);
}

/** Returns the client's message as the client sent it, except its files. */
export function userMessage(options: WireOptions, sent: UserMessage): Message {
  const { messageId, parts, metadata, extensions = [], referenceTaskIds = [] } = sent;
  return {
    ...toA2aMessage(options, { role: 'user', messageId, parts: parts.map(sentPart) }),
    metadata,
    extensions: [...extensions],
    referenceTaskIds: [...referenceTaskIds],
  };
}

export function turnArtifact(turn: number, text: string, name: string): Artifact {
  return {
    artifactId: `turn-${turn}`,
    name,
    description: '',
    parts: [textPart(text)],
    metadata: undefined,
    extensions: [],
  };
}

/** Builds an artifact that the agent made in addition to its text. */
export function agentArtifact(
  { outputModes }: Pick<WireOptions, 'outputModes'>,
  { artifactId, name, description, parts }: GivenArtifact,
): Artifact {
  const sent = parts.map((part) => toA2aPart(outputModes ? partInAcceptedMode(part, outputModes) : part));
  return { artifactId, name, description, parts: sent, metadata: undefined, extensions: [] };
}

/**
 * Builds the artifact with a tool execution's output, or the next piece of the output. The artifact is not part of the
 * answer.
 */
export function toolOutputArtifact(
  options: WireOptions,
  { toolId, title, text }: { toolId: string; title: string; text: string },
): Artifact {
  const named = { artifactId: `output-${toolId}`, name: 'tool output', description: title };
  return besideArtifact(
    options,
    { role: 'tool-output', toolId, title },
    { ...named, parts: [textPart(text)] },
  );
}

const TODO_CHECKBOX_MARKS: Readonly<Record<Todo['status'], string>> = {
  pending: ' ',
  in_progress: '~',
  done: 'x',
};

export function todosArtifact(options: WireOptions, todos: readonly Todo[]): Artifact {
  const lines = todos.map(({ text, status }) => `- [${TODO_CHECKBOX_MARKS[status]}] ${text}`);
  const named = { artifactId: 'todos', name: 'todos', description: 'The to-do list of the agent' };
  return besideArtifact(
    options,
    { role: 'todos', todos: [...todos] },
    { ...named, parts: [textPart(lines.join('\n'))] },
  );
}

/**
 * Builds an artifact that is not part of the answer. The metadata tells clients with the approval extension what the
 * artifact is.
 */
function besideArtifact(
  options: WireOptions,
  said: ArtifactRole,
  artifact: Pick<Artifact, 'artifactId' | 'name' | 'description' | 'parts'>,
): Artifact {
  return {
    ...artifact,
    metadata: options.approval ? { [TOOL_APPROVAL_EXTENSION]: said } : undefined,
    extensions: options.approval ? [TOOL_APPROVAL_EXTENSION] : [],
  };
}

export function wireMetadata(
  options: WireOptions,
  seq: number,
  approval?: unknown,
): Record<string, unknown> | undefined {
  const shown = {
    ...(options.resumable && { [RESUMABLE_STREAM_EXTENSION]: { seq } }),
    ...(options.approval && approval !== undefined && { [TOOL_APPROVAL_EXTENSION]: approval }),
  };
  return Object.keys(shown).length === 0 ? undefined : shown;
}
