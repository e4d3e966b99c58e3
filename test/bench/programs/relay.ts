/**
 * The smallest MCP server that asks an A2A agent, on the same two SDKs: one tool that reads a task and shows its state. What
 * it adds to the direct request is the minimum for every bridge. Arguments: the agent's URL and the history length.
 */
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { cardOf, clientFor } from '../agent.ts';

const [url = '', historyLength = ''] = process.argv.slice(2);
const client = await clientFor(await cardOf(url), process.env['AGENT_TOKEN'] ?? '');

serveStdio(() => {
  const server = new McpServer({ name: 'relay', version: '0' });
  const config = { description: 'Reads a task.', inputSchema: z.object({ taskId: z.string() }) };
  server.registerTool('status', config, async ({ taskId }) => {
    const task = await client.getTask({ tenant: '', id: taskId, historyLength: Number(historyLength) });
    const structuredContent = { state: task.status?.state };
    return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent };
  });
  return server;
});
process.stdin.once('end', () => process.exit(0));
