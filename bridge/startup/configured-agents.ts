/** Creates the agents that the settings name. Does not connect to them. */
import { join } from 'node:path';
import { ProductError } from '../../shared/runtime/errors.ts';
import type { Environment } from '../../shared/runtime/environment.ts';
import { LOCAL_AGENT } from '../settings/agent-settings.ts';
import type { AgentSettings, BridgeSettings } from '../settings/settings.ts';
import { Agent } from '../agents/agent.ts';
import type { ConnectOptions } from '../agents/connection.ts';
import { readCardKeys } from '../agents/card-keys.ts';
import { credentialHeaders } from '../agents/credentials.ts';
import { AgentRegistry } from '../agents/agent-registry.ts';

/** The name of the agent that the setting `agentUrl` defines. */
const NAME_OF_URL_AGENT = 'agent';

/**
 * Creates the configured agents. If none is configured, creates the local agent.
 * @param serverScript the path of the built a2a-server, with which the local agent is started
 * @throws ProductError CONFIGURATION if two agents have the same name: the bridge finds the agent of a session by its
 * name
 */
export function createAgentRegistry(
  settings: BridgeSettings,
  env: Environment,
  serverScript: string,
): AgentRegistry {
  const { agentUrl, agentTokenEnv, agentDialect, agents } = settings;
  const byUrl =
    agentUrl === undefined
      ? []
      : [
          new Agent(
            NAME_OF_URL_AGENT,
            async () => {
              // `agentTokenEnv` has a default value. If there is no variable with this name, no token is sent.
              const tokenEnv = env[agentTokenEnv] === undefined ? undefined : agentTokenEnv;
              const headers = await credentialHeaders(
                spokenOf(NAME_OF_URL_AGENT),
                { tokenEnv, headers: {} },
                env,
              );
              return { url: agentUrl, headers, dialect: agentDialect };
            },
            { aboutToken: `${tokenIn(agentTokenEnv, env)} (--agent-token-env names another variable.)` },
          ),
        ];
  const known = findAgentSettings(settings, NAME_OF_URL_AGENT)?.url;
  if (agentUrl !== undefined && known !== undefined)
    throw new ProductError(
      'CONFIGURATION',
      `The configuration file has an agent "${NAME_OF_URL_AGENT}" at ${known}. But this is also the name of the agent that "agentUrl" defines, ${agentUrl}. Give the agent in the file another name, or remove "agentUrl".`,
    );
  const listed = Object.entries(agents).map(([name, agent]) => createConfiguredAgent(name, agent, env));
  const [first = localAgent(settings, serverScript), ...others] = [...byUrl, ...listed];
  return new AgentRegistry(first, ...others);
}

/** Returns the configured agent with this name. `hasOwn` ignores what every object inherits, such as `constructor`. */
export function findAgentSettings({ agents }: BridgeSettings, name: string): AgentSettings | undefined {
  return Object.hasOwn(agents, name) ? agents[name] : undefined;
}

/**
 * Returns who has this name already: the agent of the setting `agents` or `agentUrl`, or the user's own server. The
 * bridge finds the agent of a session by its name, so an agent at another URL must not get the name.
 * @param url the URL of the agent that wants the name
 */
export function agentNameHolderText(settings: BridgeSettings, name: string, url: string): string | undefined {
  const { agentUrl } = settings;
  const known = findAgentSettings(settings, name)?.url ?? (name === NAME_OF_URL_AGENT ? agentUrl : undefined);
  if (known !== undefined) return known === url ? undefined : `an agent "${name}" at ${known}`;
  return name === LOCAL_AGENT ? `an agent "${name}", the server that the bridge starts` : undefined;
}

/** Creates an agent of the setting `agents`. */
export function createConfiguredAgent(name: string, agent: AgentSettings, env: Environment): Agent {
  return new Agent(name, () => listedEndpoint(name, agent, env), {
    aboutToken: aboutListedToken(name, agent, env),
    workspaces: agent.workspaces,
  });
}

function localAgent(settings: BridgeSettings, serverScript: string): Agent {
  return new Agent(
    LOCAL_AGENT,
    async () => {
      const { findOrStartServer } = await import('../local-server/find-or-start-server.ts');
      return findOrStartServer({ ...settings, script: serverScript });
    },
    {
      aboutToken: `The bridge sent the token in ${join(settings.stateDir, 'token')}. Check that the server runs with this state directory. Or end the server, so that the bridge starts its own.`,
    },
  );
}

function aboutListedToken(name: string, { tokenEnv, tokenCommand }: AgentSettings, env: Environment): string {
  if (tokenCommand !== undefined)
    return `The token from the "tokenCommand" of agent "${name}" in the bridge's configuration file was refused. The next call runs the command again.`;
  return tokenEnv === undefined
    ? `No token was sent: name the environment variable that holds it as "tokenEnv" of agent "${name}" in the bridge's configuration file, and set it where the MCP client starts the bridge.`
    : `${tokenIn(tokenEnv, env)} (It is the "tokenEnv" of agent "${name}" in the bridge's configuration file.)`;
}

function tokenIn(variable: string, env: Environment): string {
  return env[variable] === undefined
    ? `No token was sent: the environment variable ${variable} is not set. Set it where the bridge starts: in your shell, or in the settings of the MCP client.`
    : `The token in the environment variable ${variable} was refused. Set the right one where the MCP client starts the bridge.`;
}

const spokenOf = (name: string): string => `Agent "${name}"`;

async function listedEndpoint(
  name: string,
  settings: AgentSettings,
  env: Environment,
): Promise<ConnectOptions> {
  const { url, cardUrl, cardKeys, dialect } = settings;
  return {
    url,
    cardUrl,
    dialect,
    ...(cardKeys && { cardKeys: await readCardKeys(spokenOf(name), cardKeys) }),
    headers: await credentialHeaders(spokenOf(name), settings, env),
  };
}
