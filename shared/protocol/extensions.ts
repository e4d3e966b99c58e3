/**
 * The URIs of the A2A extensions and the name of the cursor header. This file imports no schemas, because the page
 * imports this file too.
 */
export const TOOL_APPROVAL = 'urn:mcp-a2a-bridge:tool-approval:v1';

export const RESUMABLE_STREAM = 'urn:mcp-a2a-bridge:resumable-stream:v1';

export const AGENT_COMMAND = 'urn:mcp-a2a-bridge:agent-command:v1';

/**
 * Streams the model's reasoning, which is not part of the answer. Clients that do not request this extension never see
 * reasoning.
 */
export const THINKING = 'urn:mcp-a2a-bridge:thinking:v1';

/** The command that calls one tool. Its arguments are the tool's name and its input as JSON. */
export const RUN_TOOL = 'tool';

/** The request header with the cursor, from the WHATWG EventSource specification. */
export const LAST_EVENT_ID = 'Last-Event-ID';
