/** What this agent says of itself (A2A 1.0 §4.4.1). */
import type { AgentCard } from '@a2a-js/sdk';
import { RESUMABLE_STREAM } from '../../shared/protocol/resumable-stream.ts';
import { TOOL_APPROVAL } from '../../shared/protocol/tool-approval.ts';

/** By this name a server is known for one of ours. */
export const AGENT_NAME = 'mcp-a2a-bridge agent';

const SCHEME = 'bearer';

/** @param url where clients reach this server, without a slash at the end. */
export function agentCard(url: string, version: string): AgentCard {
  return {
    name: AGENT_NAME,
    description:
      'Works on files and commands in a workspace, asks before each step that has side effects, and keeps every task through restarts.',
    supportedInterfaces: [
      { url, protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '1.0' },
      { url, protocolBinding: 'HTTP+JSON', tenant: '', protocolVersion: '1.0' },
      { url, protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '0.3' },
      { url, protocolBinding: 'HTTP+JSON', tenant: '', protocolVersion: '0.3' },
    ],
    provider: undefined,
    version,
    capabilities: {
      streaming: true,
      pushNotifications: false,
      extendedAgentCard: false,
      extensions: [
        {
          uri: TOOL_APPROVAL,
          description:
            'Pending actions with previews as data, and decisions on them: approve, deny or edit, one by one.',
          required: false,
          params: undefined,
        },
        {
          uri: RESUMABLE_STREAM,
          description:
            'Streamed events carry their position; subscribing with Last-Event-ID replays what follows it.',
          required: false,
          params: undefined,
        },
      ],
    },
    securitySchemes: {
      [SCHEME]: {
        scheme: {
          $case: 'httpAuthSecurityScheme',
          value: { description: 'A token of this server', scheme: 'bearer', bearerFormat: '' },
        },
      },
    },
    securityRequirements: [{ schemes: { [SCHEME]: { list: [] } } }],
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['text/plain', 'application/json'],
    skills: [
      {
        id: 'workspace',
        name: 'Work in a workspace',
        description:
          'Lists, reads, searches, writes and edits files, and runs shell commands, each under approval.',
        tags: ['files', 'shell', 'coding'],
        examples: ['Create test.md with hello'],
        inputModes: [],
        outputModes: [],
        securityRequirements: [],
      },
    ],
    signatures: [],
  };
}
