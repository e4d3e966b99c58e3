/** The smallest MCP server on this SDK: one tool that greets. Its cost is the minimum for every server. */
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

serveStdio(() => {
  const server = new McpServer({ name: 'hello', version: '0' });
  const config = { description: 'Greets.', inputSchema: z.object({ name: z.string() }) };
  server.registerTool('greet', config, ({ name }) => ({
    content: [{ type: 'text', text: `Hello ${name}` }],
  }));
  return server;
});
process.stdin.once('end', () => process.exit(0));
