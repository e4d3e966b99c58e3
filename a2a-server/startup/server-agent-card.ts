/** Makes the agent card of this server from its settings, tools and models. */
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
    pushNotifications: true,
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
