/** Describes the agent of this server from its settings, tools and models: its card, and the models that it offers. */
import type { KeyObject } from 'node:crypto';
import type { AgentCard } from '@a2a-js/sdk';
import { signCard } from '../../shared/card/card-signature.ts';
import { FILE_MEDIA_TYPES } from '../../shared/protocol/attached-file.ts';
import { readPackageVersion } from '../../shared/runtime/version.ts';
import { agentCard } from '../http/routes/agent-card.ts';
import { agentSkills } from '../http/routes/agent-skills.ts';
import type { Models } from '../models/model.ts';
import { type Confinement, confinementText } from '../tools/shell/confinement.ts';
import type { ServerSettings } from './settings/settings.ts';
import type { ToolsAndCommands } from './tools-and-commands.ts';
import type { OfferedAgent } from '../../shared/protocol/offered-agent.ts';
import { OFFLINE_MODEL_ID } from '../models/model-settings.ts';
import { agentBackendText } from './agent-backend.ts';

interface CardParts extends Pick<ToolsAndCommands, 'tools' | 'commands'> {
  settings: ServerSettings;
  models: Models;
  confinement: Confinement;
  /** The key that signs the card. Undefined if the card is not signed. */
  cardKey: KeyObject | undefined;
}

/** @param base the server's URL for clients, without a final slash */
export async function createServerAgentCard(base: string, parts: CardParts): Promise<AgentCard> {
  const { settings, tools, commands, models, confinement, cardKey } = parts;
  const card = agentCard(base, readPackageVersion(), {
    skills: agentSkills({
      ...settings,
      tools,
      mcpServers: enabledServerNames(settings),
      commands: commands.offered,
      shell: confinementText(confinement),
    }),
    fileModes: fileModesOf(models),
    draftProtocols: settings.preview,
    ...(settings.oidc && { oidcIssuer: settings.oidc.issuer }),
  });
  return cardKey === undefined ? card : signCard(card, cardKey);
}

/** Returns the media types of files that at least one model accepts. */
function fileModesOf(models: Models): string[] {
  const taken = models.list().flatMap((name) => models.resolve(name).inputModes ?? []);
  return FILE_MEDIA_TYPES.filter((type) => taken.includes(type));
}

function enabledServerNames({ mcpServers }: ServerSettings): string[] {
  return Object.entries(mcpServers).flatMap(([name, { disabled }]) => (disabled ? [] : [name]));
}

/** Returns the server's agent with the models that differ from its default model. */
export function describeOfferedAgent(
  settings: Pick<ServerSettings, 'agent' | 'model'>,
  models: Models,
): OfferedAgent {
  // Several names may mean the same model, which is offered once. A tier without its own model means the default
  // model. All names of an ACP agent or a script mean its only model.
  const known = new Set([models.resolve(undefined)]);
  const choices: OfferedAgent['models'] = [];
  for (const name of models.list()) {
    const model = models.resolve(name);
    // The offline model is not offered, because it only shows how the server works.
    if (known.has(model) || name === OFFLINE_MODEL_ID) continue;
    known.add(model);
    choices.push({ name, id: model.id });
  }
  return { agent: agentBackendText(settings), models: choices };
}
