/** Gives the official MCP clients one interface, with a simulated person who answers forms. */
import { Client as Client2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { type BridgeProgram, type BridgeStart, bridgeCommand } from './bridge-program.ts';

const shown = z.looseObject({ message: z.string() });
export type ShownForm = z.infer<typeof shown>;

export interface FormAnswer {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, string | boolean>;
}

/** @param withdrawn aborts when the bridge withdraws the form */
export type Person = (form: ShownForm, withdrawn: AbortSignal) => FormAnswer | Promise<FormAnswer>;

export const formResult = z.looseObject({
  content: z.array(z.looseObject({ text: z.string().optional() })),
  structuredContent: z.looseObject({ sessionId: z.string(), state: z.string() }).optional(),
  isError: z.boolean().optional(),
});
export type FormResult = z.infer<typeof formResult>;

export function textOf({ content }: FormResult): string {
  return content.map(({ text }) => text ?? '').join('\n');
}

export interface FormClient {
  /** @param signal cancels the call */
  call(name: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<FormResult>;
  close(): Promise<void>;
}

type Connect = (
  program: BridgeProgram,
  start: BridgeStart,
  person: Person,
  options?: { urls?: boolean },
) => Promise<FormClient>;

const INFO = { name: 'test', version: '0' };
/** @param urls whether the client declares that it opens URLs */
const capabilities = (urls = false) => ({
  capabilities: { elicitation: urls ? { form: {}, url: {} } : {} },
});

const newer =
  (mode: 'legacy' | { pin: string }): Connect =>
  async (program, start, person, { urls } = {}) => {
    const client = new Client2(INFO, { versionNegotiation: { mode }, ...capabilities(urls) });
    client.setRequestHandler('elicitation/create', async ({ params }, context) => ({
      ...(await person(shown.parse(params), context.mcpReq.signal)),
    }));
    await client.connect(new Stdio2({ ...bridgeCommand(program, start), stderr: 'ignore' }));
    return {
      call: async (name, args, signal) =>
        formResult.parse(await client.callTool({ name, arguments: args }, signal && { signal })),
      close: () => client.close(),
    };
  };

const older: Connect = async (program, start, person, { urls } = {}) => {
  const client = new Client1(INFO, capabilities(urls));
  client.setRequestHandler(ElicitRequestSchema, async ({ params }, { signal }) => ({
    ...(await person(shown.parse(params), signal)),
  }));
  await client.connect(new Stdio1({ ...bridgeCommand(program, start), stderr: 'ignore' }));
  return {
    call: async (name, args, signal) =>
      formResult.parse(await client.callTool({ name, arguments: args }, undefined, signal && { signal })),
    close: () => client.close(),
  };
};

/** With `holds`, the call waits while the form is open, and the bridge can withdraw the form. */
export const FORM_CLIENTS: readonly [string, Connect, { holds: boolean }][] = [
  ['the 1.x client', older, { holds: true }],
  ['the 2.x client, revision 2025-11-25', newer('legacy'), { holds: true }],
  ['the 2.x client, revision 2026-07-28', newer({ pin: '2026-07-28' }), { holds: false }],
];
