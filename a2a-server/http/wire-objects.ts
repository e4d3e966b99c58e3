/** The pieces A2A objects are made of, with the SDK's types. Every field the type has is set: its codec expects that. */
import { Role, TaskState } from '@a2a-js/sdk';
import type { Artifact, Message, Part } from '@a2a-js/sdk';
import { RESUMABLE_STREAM } from '../../shared/protocol/resumable-stream.ts';
import { TOOL_APPROVAL } from '../../shared/protocol/tool-approval.ts';
import type { Aside, Todo } from '../../shared/protocol/tool-approval.ts';
import type { Artifact as GivenArtifact, ContentPart } from '../task/events.ts';
import type { StateName } from '../task/snapshot.ts';

/** Who is looking: which task, and which extensions their client has activated. */
export interface View {
  taskId: string;
  sessionId: string;
  /** `urn:mcp-a2a-bridge:tool-approval:v1` is active. Without it neither its data parts nor its metadata are sent. */
  approval: boolean;
  /** `urn:mcp-a2a-bridge:resumable-stream:v1` is active. */
  resumable: boolean;
}

export const WIRE_STATE: Readonly<Record<StateName, TaskState>> = {
  submitted: TaskState.TASK_STATE_SUBMITTED,
  working: TaskState.TASK_STATE_WORKING,
  'input-required': TaskState.TASK_STATE_INPUT_REQUIRED,
  'auth-required': TaskState.TASK_STATE_AUTH_REQUIRED,
  completed: TaskState.TASK_STATE_COMPLETED,
  failed: TaskState.TASK_STATE_FAILED,
  canceled: TaskState.TASK_STATE_CANCELED,
  rejected: TaskState.TASK_STATE_REJECTED,
};

export function textPart(text: string): Part {
  return { content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: '' };
}

export function dataPart(data: unknown): Part {
  return {
    content: { $case: 'data', value: data },
    metadata: undefined,
    filename: '',
    mediaType: 'application/json',
  };
}

export function partOf(part: ContentPart): Part {
  switch (part.type) {
    case 'text':
      return textPart(part.text);
    case 'data':
      return dataPart(part.data);
    case 'file':
      return filePart({ $case: 'raw', value: Buffer.from(part.base64, 'base64') }, part);
    case 'file-url':
      return filePart({ $case: 'url', value: part.url }, part);
  }
}

function filePart(
  content: Part['content'],
  { name = '', mediaType = '' }: { name?: string | undefined; mediaType?: string | undefined },
): Part {
  return { content, metadata: undefined, filename: name, mediaType };
}

export function message(view: View, role: 'user' | 'agent', messageId: string, parts: Part[]): Message {
  return {
    messageId,
    contextId: view.sessionId,
    taskId: view.taskId,
    role: role === 'user' ? Role.ROLE_USER : Role.ROLE_AGENT,
    parts,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

/** What a turn of the model says is one artifact, named after the turn. */
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

/** What an agent gave beside its words. */
export function givenArtifact({ artifactId, name, description, parts }: GivenArtifact): Artifact {
  return { artifactId, name, description, parts: parts.map(partOf), metadata: undefined, extensions: [] };
}

/** What a tool execution has put out, or the next piece of it: an artifact that is no part of the answer. */
export function outputArtifact(
  view: View,
  { toolId, title, text }: { toolId: string; title: string; text: string },
): Artifact {
  const named = { artifactId: `output-${toolId}`, name: 'tool output', description: title };
  return besideArtifact(view, { role: 'tool-output', toolId, title }, { ...named, parts: [textPart(text)] });
}

const BOXES: Readonly<Record<Todo['status'], string>> = { pending: ' ', in_progress: '~', done: 'x' };

/** What the agent means to do, and how far it is. */
export function todosArtifact(view: View, todos: readonly Todo[]): Artifact {
  const lines = todos.map(({ text, status }) => `- [${BOXES[status]}] ${text}`);
  const named = { artifactId: 'todos', name: 'todos', description: 'What is to be done' };
  return besideArtifact(
    view,
    { role: 'todos', todos: [...todos] },
    { ...named, parts: [textPart(lines.join('\n'))] },
  );
}

/** An artifact that is no part of the answer, which is said to those who understand it. */
function besideArtifact(
  view: View,
  said: Aside,
  artifact: Pick<Artifact, 'artifactId' | 'name' | 'description' | 'parts'>,
): Artifact {
  return {
    ...artifact,
    metadata: view.approval ? { [TOOL_APPROVAL]: said } : undefined,
    extensions: view.approval ? [TOOL_APPROVAL] : [],
  };
}

/** Metadata for those who asked for it: the place in the journal, and what the approval extension says. */
export function metadataFor(
  view: View,
  seq: number,
  approval?: unknown,
): Record<string, unknown> | undefined {
  const shown = {
    ...(view.resumable && { [RESUMABLE_STREAM]: { seq } }),
    ...(view.approval && approval !== undefined && { [TOOL_APPROVAL]: approval }),
  };
  return Object.keys(shown).length === 0 ? undefined : shown;
}
