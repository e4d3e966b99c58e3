/** Gives the official MCP clients over Streamable HTTP one interface. */
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Http1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { z } from 'zod';
import type { HttpBridge } from './http-bridge.ts';

interface CallOptions {
  signal?: AbortSignal;
  onprogress?: (message: string) => void;
}

const result = z.looseObject({
  content: z.array(z.looseObject({ text: z.string().optional() })),
  structuredContent: z.looseObject({}).optional(),
  isError: z.boolean().optional(),
  _meta: z.looseObject({}).optional(),
  metadata: z.looseObject({}).optional(),
});
export type CallResult = z.infer<typeof result>;

const abortAnswer = z.looseObject({ success: z.boolean(), message: z.string() });

export interface HttpClient {
  call(name: string, args: Record<string, unknown>, options?: CallOptions): Promise<CallResult>;
  /** Calls the method `tools/abort`. */
  abortTool(toolId: string): Promise<{ success: boolean; message: string }>;
  /** Ends the MCP session, if the revision has sessions. */
  endSession(): Promise<void>;
  close(): Promise<void>;
}

type Connect = (bridge: Pick<HttpBridge, 'url' | 'credentials'>) => Promise<HttpClient>;

const newer =
  (mode: 'legacy' | { pin: string }): Connect =>
  async ({ url, credentials }) => {
    const client = new Client2({ name: 'test', version: '0' }, { versionNegotiation: { mode } });
    const transport = new Http2(new URL(url), { requestInit: { headers: credentials } });
    await client.connect(transport);
    return {
      call: async (name, args, { signal, onprogress } = {}) =>
        result.parse(
          await client.callTool(
            { name, arguments: args },
            {
              ...(signal === undefined ? {} : { signal }),
              ...(onprogress === undefined ? {} : { onprogress: (it) => onprogress(it.message ?? '') }),
            },
          ),
        ),
      abortTool: (toolId) => client.request({ method: 'tools/abort', params: { toolId } }, abortAnswer),
      endSession: () => transport.terminateSession(),
      close: () => client.close(),
    };
  };

const older: Connect = async ({ url, credentials }) => {
  const client = new Client1({ name: 'test', version: '0' });
  const transport = new Http1(new URL(url), { requestInit: { headers: credentials } });
  await client.connect(transport);
  return {
    call: async (name, args, { signal, onprogress } = {}) =>
      result.parse(
        await client.callTool({ name, arguments: args }, undefined, {
          ...(signal === undefined ? {} : { signal }),
          ...(onprogress === undefined ? {} : { onprogress: (it) => onprogress(it.message ?? '') }),
        }),
      ),
    abortTool: (toolId) => client.request({ method: 'tools/abort', params: { toolId } }, abortAnswer),
    endSession: () => transport.terminateSession(),
    close: () => client.close(),
  };
};

/** The 2.x client, with a revision that has sessions. */
export const sessionClient = newer('legacy');

/** With `sessions`, the revision has sessions. Its clients then also give a reason when they cancel a call. */
export const HTTP_CLIENTS: readonly [string, Connect, { sessions: boolean }][] = [
  ['the 2.x client, revision 2026-07-28', newer({ pin: '2026-07-28' }), { sessions: false }],
  ['the 2.x client, revision 2025-11-25', sessionClient, { sessions: true }],
  ['the 1.x client', older, { sessions: true }],
];
