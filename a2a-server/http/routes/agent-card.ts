import type { AgentCard, AgentExtension, AgentSkill } from '@a2a-js/sdk';
import { AGENT_COMMAND_EXTENSION } from '../../../shared/protocol/agent-command.ts';
import { RESUMABLE_STREAM_EXTENSION } from '../../../shared/protocol/resumable-stream-extension.ts';
import {
  A2A_PREVIEW_URI_PREFIX,
  THINKING_EXTENSION,
  TOOL_APPROVAL_EXTENSION,
} from '../../../shared/protocol/extensions.ts';
import { openIdConnectUrl } from '../../access/oidc-settings.ts';
import { INPUT_MODES, OUTPUT_MODES } from '../wire/output-modes.ts';
import type { ServerDraftProtocol } from '../wire/draft-protocols.ts';

/** The bridge recognises servers of this product by this name. */
export const AGENT_NAME = 'mcp-a2a-bridge agent';

const SCHEME = 'bearer';
const OIDC_SCHEME = 'openIdConnect';

/** The specification that each draft protocol follows, as the agent card describes it. */
const DRAFT_SPECIFICATIONS: Readonly<
  Record<ServerDraftProtocol, { description: string; params: Record<string, string> }>
> = {
  'a2a-1.1': {
    description:
      'A preview of A2A 1.1, which may change or go away with any release. Tasks and events have a generation. GetTask takes currentGeneration, and SendMessage takes ifGenerationMatch. Needs no activation.',
    params: {
      repository: 'a2aproject/A2A',
      branch: 'dev-1.1',
      commit: '28491879ff41a9c230fb51f3f7bd6096b80cc341',
    },
  },
};

/** The extensions that every server offers, with their descriptions. */
const EXTENSIONS = [
  [
    TOOL_APPROVAL_EXTENSION,
    'Pending actions with previews as data, and decisions on them: approve, deny or edit, one by one.',
  ],
  [
    RESUMABLE_STREAM_EXTENSION,
    'Each streamed event has its position. A subscription with Last-Event-ID replays the events after that position.',
  ],
  [
    AGENT_COMMAND_EXTENSION,
    'Commands that the agent runs by name, without a model. GET /api/commands lists them.',
  ],
  [
    THINKING_EXTENSION,
    "Status updates with the model's reasoning, marked as such. It is not part of the answer.",
  ],
] as const;

function draftProtocolOnCard(draft: ServerDraftProtocol): AgentExtension {
  return { uri: `${A2A_PREVIEW_URI_PREFIX}${draft}`, required: false, ...DRAFT_SPECIFICATIONS[draft] };
}

/**
 * Builds the agent card (A2A 1.0 §4.4.1).
 * @param url the server's address for clients, without a final slash
 * @param fileModes the media types of files that at least one model of this server accepts
 */
export function agentCard(
  url: string,
  version: string,
  {
    skills = [],
    fileModes = [],
    oidcIssuer,
    draftProtocols = [],
  }: {
    skills?: readonly AgentSkill[];
    fileModes?: readonly string[];
    oidcIssuer?: string;
    draftProtocols?: readonly ServerDraftProtocol[];
  } = {},
): AgentCard {
  return {
    name: AGENT_NAME,
    description:
      'Works on files and commands in a workspace, asks before each step that has side effects, and continues its tasks after a restart.',
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
      pushNotifications: true,
      extendedAgentCard: false,
      extensions: [
        ...EXTENSIONS.map(([uri, description]) => ({ uri, description, required: false, params: undefined })),
        ...draftProtocols.map(draftProtocolOnCard),
      ],
    },
    securitySchemes: {
      [SCHEME]: {
        scheme: {
          $case: 'httpAuthSecurityScheme',
          value: { description: 'A token of this server', scheme: 'bearer', bearerFormat: '' },
        },
      },
      ...(oidcIssuer !== undefined && {
        [OIDC_SCHEME]: {
          scheme: {
            $case: 'openIdConnectSecurityScheme' as const,
            value: {
              description: 'An access token of this provider for this server',
              openIdConnectUrl: openIdConnectUrl(oidcIssuer),
            },
          },
        },
      }),
    },
    // A2A 1.0 §4.4: a client must satisfy one of these requirements.
    securityRequirements: [SCHEME, ...(oidcIssuer === undefined ? [] : [OIDC_SCHEME])].map((scheme) => ({
      schemes: { [scheme]: { list: [] } },
    })),
    defaultInputModes: [...INPUT_MODES, ...fileModes],
    defaultOutputModes: [...OUTPUT_MODES],
    skills: [...skills],
    signatures: [],
  };
}
