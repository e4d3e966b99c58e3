/** The built server in its own process, and the SDK's client for it. */
import { readFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { Extensions, HTTP_EXTENSION_HEADER, Role } from '@a2a-js/sdk';
import type { AgentCard, Part, SendMessageRequest, StreamResponse } from '@a2a-js/sdk';
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import type { Client } from '@a2a-js/sdk/client';
import { z } from 'zod';
import { toolCallEventSchema, TOOL_APPROVAL_EXTENSION } from '../../shared/protocol/tool-approval.ts';
import type { ToolCallEvent, TaskSettings } from '../../shared/protocol/tool-approval.ts';
import type { BenchContext } from './benchmark.ts';
import { startProgram } from './child-program.ts';
import type { ChildProgram } from './child-program.ts';

export interface Agent {
  url: string;
  program: ChildProgram;
  workspace: string;
  stateDirectory: string;
  token: string;
}

export interface AgentOptions {
  /** The state directory of an earlier server. By default the server gets a new one. */
  state?: string;
  args?: readonly string[];
  env?: Readonly<Record<string, string>>;
}

/** Starts the built server on any free port. */
export async function startAgent(
  { dist, directory }: BenchContext,
  { state, args = [], env = {} }: AgentOptions = {},
): Promise<Agent> {
  const stateDirectory = state ?? (await mkdtemp(join(directory, 'state-')));
  // The workspace lies beside the state directory, because no task may work inside the state directory.
  const workspace = `${stateDirectory}-workspace`;
  await mkdir(workspace, { recursive: true });
  const program = await startProgram({
    script: join(dist, 'a2a-server', 'main.js'),
    args: [
      '--port=0',
      `--state-dir=${stateDirectory}`,
      `--workspace=${workspace}`,
      '--log-level=error',
      ...args,
    ],
    env,
  });
  const url = /http:\S+/.exec(program.said)?.[0];
  if (url === undefined) throw new Error(`the server said: ${program.said}`);
  const token = (await readFile(join(stateDirectory, 'token'), 'utf8')).trim();
  return { url, program, workspace, stateDirectory, token };
}

export function cardOf(url: string): Promise<AgentCard> {
  return new DefaultAgentCardResolver().resolve(url);
}

/** @param at the URL for JSON-RPC requests; by default the URL on the card. @returns the SDK's client */
export function clientFor(card: AgentCard, token: string, at?: string): Promise<Client> {
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${token}`);
    return fetch(input, { ...init, headers });
  };
  const factory = new ClientFactory({ transports: [new JsonRpcTransportFactory({ fetchImpl })] });
  const supportedInterfaces = card.supportedInterfaces.map((it) => ({ ...it, url: at ?? it.url }));
  return factory.createFromAgentCard({ ...card, supportedInterfaces });
}

/** Request options that make the approval extension active. */
export const WITH_APPROVAL = {
  serviceParameters: { [HTTP_EXTENSION_HEADER]: Extensions.toServiceParameter([TOOL_APPROVAL_EXTENSION]) },
};

interface Said {
  text?: string;
  data?: unknown;
  taskId?: string;
  settings?: TaskSettings;
}

/** Creates a message of the user with a new id. */
export function saying({ text, data, taskId = '', settings }: Said): SendMessageRequest {
  const content: Part['content'] =
    text === undefined ? { $case: 'data', value: data } : { $case: 'text', value: text };
  return {
    tenant: '',
    message: {
      messageId: randomUUID(),
      contextId: '',
      taskId,
      role: Role.ROLE_USER,
      parts: [{ content, metadata: undefined, filename: '', mediaType: '' }],
      metadata: settings && { [TOOL_APPROVAL_EXTENSION]: settings },
      extensions: [],
      referenceTaskIds: [],
    },
    configuration: undefined,
    metadata: undefined,
  };
}

/** Returns the text of an artifact update. Returns undefined for any other event. */
export function chunkOf({ payload }: StreamResponse): string | undefined {
  const content = payload?.$case === 'artifactUpdate' ? payload.value.artifact?.parts[0]?.content : undefined;
  return content?.$case === 'text' ? content.value : undefined;
}

const activityMetadata = z.object({ [TOOL_APPROVAL_EXTENSION]: z.object({ activity: toolCallEventSchema }) });

/** Returns the tool activity in a status update. Returns undefined for any other event. */
export function activityOf({ payload }: StreamResponse): ToolCallEvent | undefined {
  if (payload?.$case !== 'statusUpdate') return undefined;
  return activityMetadata.safeParse(payload.value.metadata).data?.[TOOL_APPROVAL_EXTENSION].activity;
}
