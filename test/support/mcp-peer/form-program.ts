/** A test MCP server over stdio. Its tool `order` has an input schema with many kinds of fields, and returns its input. */
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const HOSTILE = '<img src=x onerror="document.title=1">\u202e';

const inputSchema = {
  type: 'object' as const,
  properties: {
    product: { type: 'string', title: 'Product', description: `What to order. ${HOSTILE}`, minLength: 2 },
    note: { type: 'string', maxLength: 500 },
    count: { type: 'integer', minimum: 1, maximum: 10 },
    price: { anyOf: [{ type: 'number' }, { type: 'null' }], default: null },
    urgent: { type: 'boolean' },
    size: { type: 'string', enum: ['small', 'large'] },
    address: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    code: { type: 'string', pattern: '^[A-Z]+$' },
  },
  required: ['product', 'count'],
};

const server = new Server({ name: 'shop', version: '1' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [{ name: 'order', inputSchema }] }));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
  content: [{ type: 'text', text: `ordered: ${JSON.stringify(params.arguments)}` }],
}));
await server.connect(new StdioServerTransport());
