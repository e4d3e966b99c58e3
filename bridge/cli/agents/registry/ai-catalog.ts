/** Reads an AI Catalog 1.0 (specification/ai-catalog.md of Agent-Card/ai-catalog). Pure. */
import { z } from 'zod';
import {
  parseRegistryEntry,
  registryEntriesSchema,
  type RegistryEntry,
  registryEntryOfCardUrl,
  unusableRegistryError,
} from './registry-entry.ts';
import { compareVersions } from '../../../text/compare-versions.ts';
import { inputProblem, zodIssuesText } from '../../../../shared/text/input-problem.ts';

/** The maximum depth of nested catalogs. "Nested Catalog Depth and Circular References" recommends 4. */
const MAX_DEPTH = 4;
const CATALOG = 'application/ai-catalog+json';
const AGENT_CARD = 'application/a2a-agent-card+json';

const text = z.string().catch('');
export const aiCatalogSchema = z.looseObject({ specVersion: z.string(), entries: registryEntriesSchema });
const catalogEntry = z.looseObject({
  identifier: text,
  displayName: text,
  description: text,
  version: text,
  updatedAt: text,
  type: z.string().optional(),
  /** The name of `type` in drafts of 1.0. */
  mediaType: z.string().optional(),
  url: z.string().optional(),
  data: z.unknown().optional(),
});
type CatalogEntry = z.infer<typeof catalogEntry>;
const named = z.looseObject({ name: z.string() });

/** Reads the entries of a catalog. @throws ProductError CONFIGURATION for a later major version */
export function parseAiCatalog(
  { specVersion, entries }: z.infer<typeof aiCatalogSchema>,
  depth = MAX_DEPTH,
): readonly RegistryEntry[] {
  // "Version Handling": a client rejects a major version that it does not support.
  if (Number.parseInt(specVersion, 10) > 1)
    throw unusableRegistryError(
      `it is an AI Catalog of version ${specVersion}, and this program reads version 1`,
    );
  const parsed = entries.map((entry) => catalogEntry.safeParse(entry, { error: inputProblem }));
  const problems = parsed.flatMap(({ error }): RegistryEntry[] =>
    error === undefined ? [] : [{ type: 'unusable', title: '', problem: zodIssuesText(error) }],
  );
  const known = newestVersions(parsed.flatMap(({ data }) => data ?? []));
  return [...known.flatMap((entry) => readEntry(entry, depth)), ...problems];
}

function readEntry(entry: CatalogEntry, depth: number): readonly RegistryEntry[] {
  const { url, data, description } = entry;
  const [type = ''] = (entry.type ?? entry.mediaType ?? '').toLowerCase().split(';');
  const title = titleOf(entry);
  if (type === CATALOG) {
    if (url !== undefined) return [{ type: 'catalog', url }];
    const nested = aiCatalogSchema.safeParse(data, { error: inputProblem });
    if (nested.success && depth > 1) return parseAiCatalog(nested.data, depth - 1);
    const problem = nested.success ? 'its catalogs are nested too deep' : zodIssuesText(nested.error);
    return [{ type: 'unusable', title, problem }];
  }
  if (type !== AGENT_CARD) return [{ type: 'other' }];
  if (url !== undefined) return [registryEntryOfCardUrl(url, { title, description })];
  const found = parseRegistryEntry(data);
  if (found.type !== 'agent') return [found];
  const words = { title, ...(description !== '' && { description }) };
  return [{ type: 'agent', agent: { ...found.agent, ...words } }];
}

/** Returns the title of an entry, as "Resolving an Artifact's Display Name" defines. */
function titleOf({ displayName, identifier, data }: CatalogEntry): string {
  if (displayName !== '') return displayName;
  return named.safeParse(data).data?.name ?? identifier.split(/[:/]/).at(-1) ?? '';
}

/**
 * Returns the newest version of each entry. "Multi-Version Entries": entries with the same identifier are versions of
 * one artifact.
 */
function newestVersions(entries: readonly CatalogEntry[]): readonly CatalogEntry[] {
  const newest = new Map<string, CatalogEntry>();
  for (const [index, entry] of entries.entries()) {
    const key = entry.identifier === '' ? `#${index}` : entry.identifier;
    const known = newest.get(key);
    if (known === undefined || isNewer(entry, known)) newest.set(key, entry);
  }
  return [...newest.values()];
}

function isNewer(one: CatalogEntry, other: CatalogEntry): boolean {
  return (compareVersions(one.version, other.version) || one.updatedAt.localeCompare(other.updatedAt)) > 0;
}
