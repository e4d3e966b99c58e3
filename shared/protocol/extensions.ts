/** The names of the A2A extensions and of their header, for those who read no schemas: a page in a browser, for one. */
export const TOOL_APPROVAL = 'urn:mcp-a2a-bridge:tool-approval:v1';

export const RESUMABLE_STREAM = 'urn:mcp-a2a-bridge:resumable-stream:v1';

export const AGENT_COMMAND = 'urn:mcp-a2a-bridge:agent-command:v1';

/** The request header that carries the cursor, as in the WHATWG EventSource specification. */
export const LAST_EVENT_ID = 'Last-Event-ID';
