/**
 * Finds the agents in the document of a registry. Pure. A2A prescribes no format for such a document (A2A
 * documentation, "Agent Discovery", curated registries). Its working group refers to the AI Catalog
 * (a2aproject/A2A#418). This code reads an AI Catalog, and also the lists of existing registries: an array of agent
 * cards or URLs, or an object with such an array as `agents`.
 */
import { z } from 'zod';
import { suggestAgentName } from '../agent-entry.ts';
import { aiCatalogSchema, parseAiCatalog } from './ai-catalog.ts';
import {
  type ListedAgent,
  parseRegistryEntry,
  registryEntriesSchema,
  type RegistryEntry,
  unusableRegistryError,
} from './registry-entry.ts';
import { inputProblem, zodIssuesText } from '../../../../shared/text/input-problem.ts';

export interface ParsedAgentList {
  /** `name` is unique in the list. It is the agent's name in the settings. */
  agents: readonly (ListedAgent & { name: string })[];
  /** The entries of agents without a usable URL. */
  unusable: readonly { title: string; problem: string }[];
  /** The number of entries that are not A2A agents, e.g. MCP servers. */
  others: number;
  /** The URLs of further catalogs. */
  catalogs: readonly string[];
  /** The number of all agents in the registry, if this document is only one page of them. Otherwise undefined. */
  total: number | undefined;
}

const page = z.looseObject({
  agents: registryEntriesSchema,
  total: z.number().optional().catch(undefined),
  pagination: z.looseObject({ total: z.number().optional() }).optional().catch(undefined),
});

/** Returns the agents in a document. @throws ProductError CONFIGURATION if the document has none of these formats */
export function parseAgentList(document: unknown): ParsedAgentList {
  if (Array.isArray(document))
    return listOf(parseWithSchema(registryEntriesSchema, document).map(parseRegistryEntry));
  if (has(document, 'entries')) return listOf(parseAiCatalog(parseWithSchema(aiCatalogSchema, document)));
  if (has(document, 'agents')) {
    const { agents, total, pagination } = parseWithSchema(page, document);
    return listOf(agents.map(parseRegistryEntry), total ?? pagination?.total);
  }
  throw unusableRegistryError(
    has(document, 'supportedInterfaces') || has(document, 'url')
      ? 'it describes one agent. Use: mcp-a2a-bridge agents add <url>'
      : 'it is no AI Catalog (it has no "entries"), and no list of agents (no array, no "agents")',
  );
}

function listOf(entries: readonly RegistryEntry[], total = 0): ParsedAgentList {
  const agents = new Map<string, ParsedAgentList['agents'][number]>();
  const names = new Set<string>();
  const unusable: { title: string; problem: string }[] = [];
  const catalogs = new Set<string>();
  let others = 0;
  for (const entry of entries)
    switch (entry.type) {
      case 'agent': {
        const { agent } = entry;
        const address = agent.cardUrl ?? agent.url;
        if (agents.has(address)) break;
        const name = freeName(suggestAgentName(agent.title, agent.url), names);
        names.add(name);
        agents.set(address, { name, ...agent });
        break;
      }
      case 'unusable':
        unusable.push({ title: entry.title, problem: entry.problem });
        break;
      case 'catalog':
        catalogs.add(entry.url);
        break;
      case 'other':
        others += 1;
    }
  return {
    agents: [...agents.values()],
    unusable,
    others,
    catalogs: [...catalogs],
    total: total > entries.length ? total : undefined,
  };
}

function freeName(wanted: string, taken: ReadonlySet<string>): string {
  let name = wanted;
  for (let count = 2; taken.has(name); count += 1) name = `${wanted}-${count}`;
  return name;
}

function has(document: unknown, key: string): boolean {
  return typeof document === 'object' && document !== null && Object.hasOwn(document, key);
}

function parseWithSchema<T>(schema: z.ZodType<T>, document: unknown): T {
  const result = schema.safeParse(document, { error: inputProblem });
  if (result.success) return result.data;
  throw unusableRegistryError(zodIssuesText(result.error), result.error);
}
