/** Builds messages to an A2A agent for the HTTP+JSON binding of A2A 1.0. Pure. */
import { AGENT_COMMAND, RUN_TOOL, TOOL_APPROVAL } from '../../protocol/extensions.ts';
import type { Decision, Grants, TaskRequest, ToolRequest } from '../core/task-request.ts';

/** The default channel of decisions. */
export const CHANNEL = 'client-library';

interface Addressed {
  messageId: string;
  sessionId?: string | undefined;
  taskId?: string;
}

export interface A2aTaskRequest extends TaskRequest {
  /** Offers the model only read-only tools. */
  readOnly?: boolean | undefined;
}

export function requestMessage(request: A2aTaskRequest, messageId: string): object {
  const { text, sessionId, workspace, autoExecute, readOnly, mode, model } = request;
  return message(
    [{ text }],
    { messageId, sessionId },
    { [TOOL_APPROVAL]: { workspace, autoExecute, readOnly, mode, model } },
  );
}

export function textMessage(text: string, to: Addressed): object {
  return message([{ text }], to);
}

/** The command for one tool call (extension `agent-command`). */
export function toolMessage({ tool, input = {}, workspace }: ToolRequest, messageId: string): object {
  const data = { extension: AGENT_COMMAND, command: RUN_TOOL, args: [tool, JSON.stringify(input)] };
  return message(
    [{ data, mediaType: 'application/json' }],
    { messageId },
    { [TOOL_APPROVAL]: { workspace } },
  );
}

export function revokeMessage(grants: Grants, { channel, ...to }: Addressed & { channel: string }): object {
  return message(
    [{ data: { extension: TOOL_APPROVAL, revoke: grants, channel }, mediaType: 'application/json' }],
    to,
  );
}

/** Each decision carries the code of the question that the person saw. This function adds no code (D2). */
export function decisionsMessage(
  decisions: readonly Decision[],
  { channel, ...to }: Addressed & { channel: string },
): object {
  return message(
    [
      {
        data: { extension: TOOL_APPROVAL, decisions, channel },
        mediaType: 'application/json',
      },
    ],
    to,
  );
}

function message(parts: object[], { messageId, sessionId, taskId }: Addressed, metadata?: object): object {
  // JSON omits undefined fields.
  return { message: { messageId, role: 'ROLE_USER', contextId: sessionId, taskId, parts, metadata } };
}
