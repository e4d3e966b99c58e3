/**
 * A test MCP server for MCP 2026-07-28 only, on the SDK's server: `stdio`, or `http <port>`. It refuses `initialize`.
 */
import { createServer } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const [kind = 'stdio', port = '0'] = process.argv.slice(2);
let grown = false;
const cancelled: string[] = [];
/** The calls of `discovered` that wait for the next `server/discover`. */
let waiting: (() => void)[] = [];

function noteDiscover(messages: string): void {
  if (!messages.includes('"method":"server/discover"')) return;
  for (const resume of waiting) resume();
  waiting = [];
}

const said = (answer: string) => ({ content: [{ type: 'text' as const, text: answer }] });

function serve(): McpServer {
  const server = new McpServer(
    { name: 'modern', version: '1' },
    { capabilities: { tools: { listChanged: true } } },
  );
  const inputSchema = z.object({ text: z.string().default('') });
  server.registerTool('note', { inputSchema }, ({ text: asked }) => said(`note: ${asked}`));
  server.registerTool('steps', { inputSchema }, async (_, { mcpReq }) => {
    const progressToken = mcpReq['_meta']?.progressToken;
    if (progressToken !== undefined)
      for (const progress of [1, 2])
        await mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 4, message: `step ${progress}` },
        });
    return said('worked');
  });
  server.registerTool('ask', { inputSchema }, ({ text: asked }, { mcpReq }) => {
    const answer = mcpReq.inputResponses?.['colour'];
    if (answer !== undefined) return said(`${asked}: ${JSON.stringify(answer)}`);
    return inputRequired({
      inputRequests: {
        colour: inputRequired.elicit({
          message: `Which colour for ${asked}?`,
          requestedSchema: {
            type: 'object',
            properties: { colour: { type: 'string', enum: ['red', 'blue'] } },
            required: ['colour'],
          },
        }),
      },
    });
  });
  server.registerTool('never', { inputSchema }, async (_, { mcpReq }) => {
    await new Promise((resolve) => mcpReq.signal.addEventListener('abort', resolve));
    cancelled.push(String(mcpReq.signal.reason));
    return said('too late');
  });
  server.registerTool('cancelled', { inputSchema }, () => said(JSON.stringify(cancelled)));
  server.registerTool('discovered', { inputSchema }, async () => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return said('discovered');
  });
  server.registerTool('grow', { inputSchema }, () => {
    grown = true;
    if (handler === undefined) addNewcomer(server);
    else handler.notify.toolsChanged();
    return said('changed');
  });
  // The server refuses the call if the header is missing or does not match.
  const place = z.object({ place: z.string().meta({ 'x-mcp-header': 'Place' }) });
  server.registerTool('mirrored', { inputSchema: place }, ({ place: asked }, { http }) =>
    said(`${asked}: ${http?.req?.headers.get('mcp-param-place') ?? 'no header'}`),
  );
  if (grown) addNewcomer(server);
  return server;
}

function addNewcomer(server: McpServer): void {
  server.registerTool('newcomer', {}, () => ({ content: [{ type: 'text', text: 'new here' }] }));
}

const handler = kind === 'http' ? createMcpHandler(serve, { legacy: 'reject' }) : undefined;
if (handler === undefined) {
  const input = new PassThrough();
  process.stdin.on('data', (chunk) => noteDiscover(String(chunk))).pipe(input);
  serveStdio(serve, { legacy: 'reject', transport: new StdioServerTransport(input) });
} else
  createServer((request, response) => {
    void (async () => {
      const headers = new Headers();
      for (const [name, values] of Object.entries(request.headersDistinct))
        for (const value of values ?? []) headers.append(name, value);
      const { method = 'GET' } = request;
      const gone = new AbortController();
      response.on('close', () => gone.abort());
      const body = method === 'POST' ? { body: await text(request) } : {};
      noteDiscover(body.body ?? '');
      const answer = await handler.fetch(
        new Request('http://127.0.0.1/mcp', { method, headers, signal: gone.signal, ...body }),
      );
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      response.flushHeaders();
      if (answer.body === null) response.end();
      else
        Readable.fromWeb(answer.body)
          .on('error', () => undefined)
          .pipe(response);
    })();
  }).listen(Number(port), '127.0.0.1', function (this: { address(): unknown }) {
    process.stdout.write(`${JSON.stringify(this.address())}\n`);
  });
// This process ends with the test, even if the test is killed.
const parent = process.ppid;
setInterval(() => process.ppid === parent || process.exit(), 1_000).unref();
