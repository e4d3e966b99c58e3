/** Reads the entries of a registry: finds an agent's URL in each. Pure. */
import { AGENT_CARD_PATH } from '@a2a-js/sdk';
import { z } from 'zod';
import { ProductError } from '../../../../shared/runtime/errors.ts';
import { httpUrlSchema } from '../../../settings/agent-settings.ts';
import { inputProblem, zodIssuesText } from '../../../../shared/text/input-problem.ts';

const MAX_ENTRIES = 2_000;

export const registryEntriesSchema = z.array(z.unknown()).max(MAX_ENTRIES);

/** An agent of a registry. All its texts come from the registry, so they are untrusted. */
export interface ListedAgent {
  title: string;
  description: string;
  url: string;
  /** The URL of the card. Absent if the bridge finds the card by `url`. */
  cardUrl?: string;
}

/** One entry of a registry. `other` is an entry that is not an A2A agent, such as an MCP server. */
export type RegistryEntry =
  | { type: 'agent'; agent: ListedAgent }
  | { type: 'unusable'; title: string; problem: string }
  | { type: 'catalog'; url: string }
  | { type: 'other' };

const text = z.string().catch('');
/** Matches an agent card of A2A 1.0 or 0.3, or an object that says where the card is. */
const item = z.looseObject({
  name: text,
  description: text,
  cardUrl: z.string().optional(),
  wellKnownURI: z.string().optional(),
  supportedInterfaces: z.array(z.looseObject({ url: z.string() })).optional(),
  url: z.string().optional(),
});

/** Reads an agent card, the URL of an agent, or an object with the URL of the agent or of its card. */
export function parseRegistryEntry(value: unknown): RegistryEntry {
  if (typeof value === 'string') return agentAt(value, { title: '', description: '' });
  const parsed = item.safeParse(value, { error: inputProblem });
  if (!parsed.success) return { type: 'unusable', title: '', problem: zodIssuesText(parsed.error) };
  const { name: title, description, cardUrl, wellKnownURI, supportedInterfaces, url } = parsed.data;
  const card = cardUrl ?? wellKnownURI;
  return card === undefined
    ? agentAt(supportedInterfaces?.[0]?.url ?? url, { title, description })
    : registryEntryOfCardUrl(card, { title, description });
}

type AgentTitleAndDescription = Pick<ListedAgent, 'title' | 'description'>;

/**
 * Returns the entry of an agent whose card is at this URL. The bridge finds two kinds of cards without `cardUrl`: a
 * card at the well-known path below the agent's URL, and a card at the URL of a JSON file. The entry then has no
 * `cardUrl`.
 */
export function registryEntryOfCardUrl(cardUrl: string, words: AgentTitleAndDescription): RegistryEntry {
  const found = agentAt(cardUrl, words);
  if (found.type !== 'agent') return found;
  const { href, pathname, search } = new URL(cardUrl);
  if (search === '' && pathname.endsWith(`/${AGENT_CARD_PATH}`))
    return agentAt(href.slice(0, -AGENT_CARD_PATH.length), words);
  return pathname.endsWith('.json') ? found : { type: 'agent', agent: { ...found.agent, cardUrl } };
}

function agentAt(url: string | undefined, words: AgentTitleAndDescription): RegistryEntry {
  const { title } = words;
  if (url === undefined) return { type: 'unusable', title, problem: 'it has no URL' };
  const address = httpUrlSchema.safeParse(url);
  return address.success
    ? { type: 'agent', agent: { ...words, url: address.data } }
    : { type: 'unusable', title, problem: zodIssuesText(address.error) };
}

/** Returns the error for a document that cannot be used. @param problem a clause without a full stop */
export function unusableRegistryError(problem: string, cause?: unknown): ProductError {
  return new ProductError('CONFIGURATION', `This is no registry of A2A agents: ${problem}.`, { cause });
}
