/**
 * Constants of the A2A extensions: their URIs, the name of the agent command that runs a tool, and the name of the HTTP
 * header with the stream cursor. This file imports no schemas, so the approval page can import it without `zod`.
 */
export const TOOL_APPROVAL_EXTENSION = 'urn:mcp-a2a-bridge:tool-approval:v1';

export const RESUMABLE_STREAM_EXTENSION = 'urn:mcp-a2a-bridge:resumable-stream:v1';

export const AGENT_COMMAND_EXTENSION = 'urn:mcp-a2a-bridge:agent-command:v1';

/**
 * The extension that streams the model's reasoning, which is not part of the answer. Clients that do not request it
 * never see reasoning.
 */
export const THINKING_EXTENSION = 'urn:mcp-a2a-bridge:thinking:v1';

/**
 * An agent card declares a preview of a later A2A version with a URI. The URI consists of this prefix and the name of
 * the preview.
 */
export const A2A_PREVIEW_URI_PREFIX = 'urn:mcp-a2a-bridge:preview:';

/** The agent command that makes one tool call. Its arguments are the tool's name and its input as JSON. */
export const RUN_TOOL_COMMAND = 'tool';

/** The request header that contains the cursor. It is from the WHATWG EventSource specification. */
export const LAST_EVENT_ID_HEADER = 'Last-Event-ID';
