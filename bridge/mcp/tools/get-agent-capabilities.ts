/** The MCP tool `get_agent_capabilities_and_version`: lists the agents, what they can do, and whether they answer. */
import { z } from 'zod';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import type { Agent } from '../../agents/agent.ts';
import { withTimeoutIfSeveral } from '../../agents/timeout.ts';
import * as fields from '../tool/input-fields.ts';
import { defineBridgeTool } from '../tool/define-tool.ts';
import { joinTexts } from '../../../shared/text/join-texts.ts';

const capabilities = z.object({
  bridge: z.object({ name: z.string(), version: z.string() }),
  agents: z.array(
    z.object({
      agent: z.string(),
      reachable: z.boolean(),
      message: z.string(),
      card: z
        .object({
          name: z.string(),
          description: z.string(),
          version: z.string(),
          url: z.string(),
          protocols: z.array(z.string()),
          streaming: z.boolean(),
          dialect: z.string(),
          extensions: z.array(z.string()),
          skills: z.array(z.string()),
        })
        .nullable(),
    }),
  ),
});
type AgentReport = z.infer<typeof capabilities>['agents'][number];

export const agentCapabilitiesTool = defineBridgeTool({
  name: 'get_agent_capabilities_and_version',
  title: 'Show the agents',
  description: `The configured agents: whether each can be reached, its name, version, protocol, extensions and skills; and the version of this bridge.`,
  input: z.strictObject({ agent: fields.agentSchema.describe('Only this agent.') }),
  output: capabilities,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
  async run({ agent }, call) {
    const { registry, version } = call.bridge;
    const agents = agent === undefined ? registry.all : [registry.pick(agent)];
    const structured = {
      bridge: { name: 'mcp-a2a-bridge', version },
      agents: await Promise.all(agents.map((each) => describeAgent(each, agents.length))),
    };
    return {
      structured,
      text: [`mcp-a2a-bridge ${version}`, ...structured.agents.map(agentText)].join('\n\n'),
    };
  },
});

/** Describes one agent. A silent agent must not delay the results about the others, so the time is limited. */
async function describeAgent(agent: Agent, asked: number): Promise<AgentReport> {
  try {
    return await withTimeoutIfSeveral(asked, describeReachableAgent(agent));
  } catch (error) {
    return { agent: agent.name, reachable: false, message: agent.failed(error).message, card: null };
  }
}

async function describeReachableAgent(agent: Agent): Promise<AgentReport> {
  const { facts, dialect, url } = await agent.reconnect();
  const { name, description, version, streaming } = facts;
  return {
    agent: agent.name,
    reachable: true,
    message: await credentialsProblem(agent),
    card: {
      name,
      description,
      version,
      url,
      protocols: facts.interfaces.map((each) => `A2A ${each.protocolVersion} ${each.binding} at ${each.url}`),
      streaming,
      dialect: dialect.name,
      extensions: facts.extensions.map((each) => each.uri),
      skills: facts.skills.map((skill) => joinTexts(': ', [skill.name, skill.description])),
    },
  };
}

/**
 * Returns why the agent refuses the credentials. Lists one task to find the reason, because the agent card needs no
 * token. Returns '' if no problem is known.
 */
async function credentialsProblem(agent: Agent): Promise<string> {
  try {
    await agent.ask((connection) => connection.list({}, 1));
  } catch (error) {
    if (error instanceof ProductError && (error.reason === 'UNAUTHENTICATED' || error.reason === 'FORBIDDEN'))
      return error.message;
  }
  return '';
}

function agentText({ agent, reachable, message, card }: AgentReport): string {
  if (!reachable || card === null) return `Agent "${agent}" cannot be reached: ${message}`;
  return joinTexts('\n', [
    `Agent "${agent}" can be reached at ${card.url}: ${visibleLine(card.name)} ${visibleLine(card.version)}`.trim(),
    message,
    visibleLine(card.description),
    ...card.protocols.map((each) => visibleLine(each)),
    `Streaming: ${card.streaming ? 'yes' : 'no'}. Dialect: ${card.dialect}.`,
    card.extensions.length === 0 ? '' : `Extensions: ${visibleLine(card.extensions.join(', '))}`,
    ...card.skills.map((skill) => `Skill: ${visibleLine(skill)}`),
  ]);
}
