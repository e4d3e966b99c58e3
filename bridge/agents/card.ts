/** Fetches an agent card, validates it, and extracts the fields that the bridge uses. */
import {
  A2A_PROTOCOL_VERSION,
  A2A_VERSION_HEADER,
  AGENT_CARD_PATH,
  type AgentCard,
  type AgentInterface,
} from '@a2a-js/sdk';
import { DefaultAgentCardResolver } from '@a2a-js/sdk/client';
import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import { findVerifiedCard } from '../../shared/card/card-signature.ts';
import { isRecord } from '../../shared/runtime/record.ts';
import { inputProblem, zodIssuesText } from '../../shared/text/input-problem.ts';
import { RESUMABLE_STREAM_EXTENSION } from '../../shared/protocol/resumable-stream-extension.ts';
import { HttpError, UntrustedCardError } from './http/request-errors.ts';

const httpUrl = z.url({ protocol: /^https?$/ });

/** The card fields that the bridge uses. The SDK has already converted the card to A2A 1.0. */
const usableCard = z
  .object({
    name: z.string().default('unnamed agent'),
    description: z.string().default(''),
    version: z.string().default(''),
    supportedInterfaces: z
      .array(
        z.object({
          url: z.string(),
          protocolBinding: z.string(),
          protocolVersion: z.string().default(A2A_PROTOCOL_VERSION),
          tenant: z.string().default(''),
        }),
      )
      .transform((interfaces) => interfaces.filter(hasHttpUrl))
      .refine((interfaces) => interfaces.length > 0, 'expected an interface with an http or https URL'),
    capabilities: z
      .object({
        streaming: z.boolean().optional(),
        extensions: z
          .array(
            z.object({
              uri: z.string(),
              description: z.string().default(''),
              required: z.boolean().default(false),
            }),
          )
          .default([]),
      })
      .optional(),
    defaultInputModes: z.array(z.string()).default([]),
    skills: z
      .array(
        z.object({
          inputModes: z.array(z.string()).default([]),
          id: z.string().default(''),
          name: z.string().default(''),
          description: z.string().default(''),
        }),
      )
      .default([]),
  })
  .transform(({ supportedInterfaces, capabilities, defaultInputModes, skills, ...rest }) => ({
    ...rest,
    /** The media types that the agent, or at least one of its skills, accepts. */
    inputModes: [...new Set([...defaultInputModes, ...skills.flatMap(({ inputModes }) => inputModes)])],
    skills: skills.map(({ id, name, description }) => ({ id, name, description })),
    /** The interfaces with an http or https URL. */
    interfaces: supportedInterfaces.map(({ protocolBinding: binding, ...it }) => ({ ...it, binding })),
    streaming: capabilities?.streaming ?? false,
    extensions: capabilities?.extensions ?? [],
  }));
export type AgentCardFacts = z.infer<typeof usableCard>;

/** The card path of A2A 0.2. Some agents of A2A 0.3 still use it. */
const OLD_CARD_PATH = '.well-known/agent.json';

/**
 * Fetches an agent card. If the URL names a JSON file, that file is the card. Otherwise the well-known card paths are
 * tried, first below the URL, then at the root of its host.
 * @param cardKeys the public keys that may sign the card; undefined if the card needs no signature
 * @throws HttpError, UntrustedCardError, or any error of `fetch`
 */
export async function fetchAgentCard(
  url: string,
  fetchImpl: typeof fetch,
  cardKeys?: readonly KeyObject[],
): Promise<{ card: AgentCard; facts: AgentCardFacts }> {
  const received = await fetchFirstCard(agentCardUrls(url), fetchImpl);
  const card = cardKeys === undefined ? normalizedCard(received) : await findVerifiedCard(received, cardKeys);
  if (card === undefined) throw new UntrustedCardError();
  const facts = parseAgentCard(card);
  return { card: { ...card, supportedInterfaces: usableInterfaces(card) }, facts };
}

/**
 * Returns the interfaces from which the SDK may choose. If several have the same binding and version, returns only the
 * first of them. A2A 1.0 §8.3.2: a client prefers earlier entries. The SDK would use the last of them.
 */
function usableInterfaces({ supportedInterfaces }: AgentCard): AgentCard['supportedInterfaces'] {
  const usable = supportedInterfaces.filter(hasHttpUrl).map(withKnownVersion);
  const kindOf = ({ protocolBinding, protocolVersion }: (typeof usable)[number]): string =>
    `${protocolBinding.toUpperCase()} ${protocolVersion}`;
  const kinds = usable.map(kindOf);
  return usable.filter((each, index) => kinds.indexOf(kindOf(each)) === index);
}

/**
 * Changes version 0.2 of an interface to 0.3. The SDK does not know 0.2, and would send requests of A2A 1.0 to such an
 * agent, e.g. one of Pydantic AI. The requests of A2A 0.2.5 are those of 0.3.
 */
function withKnownVersion(each: AgentInterface): AgentInterface {
  return /^0\.2(\.|$)/.test(each.protocolVersion ?? '') ? { ...each, protocolVersion: '0.3' } : each;
}

/**
 * Returns true if the bridge can send requests to this URL. a2a.proto: the URL of gRPC is like `grpc.example.com:443`.
 * A custom binding may have any other URL.
 */
function hasHttpUrl({ url }: { url: string }): boolean {
  return httpUrl.safeParse(url).success;
}

/** Converts a card of A2A 0.3 to version 1.0. */
function normalizedCard(received: unknown): AgentCard {
  return new DefaultAgentCardResolver({ legacyCompat: { enabled: true } }).normalizeAgentCard(received);
}

/** The depth to which the bridge reads a card. The deepest fields are like `capabilities.extensions[0].uri`. */
const CARD_LEVELS = 5;

/**
 * Removes fields that are null. ProtoJSON: null is the same as an absent field. Some SDKs send null for an empty list.
 */
function withoutNulls(value: unknown, levels = CARD_LEVELS): unknown {
  if (levels === 0) return value;
  const inner = (it: unknown): unknown => withoutNulls(it, levels - 1);
  if (Array.isArray(value)) return value.map(inner);
  if (!isRecord(value)) return value;
  const present = Object.entries(value).filter(([, it]) => it !== null);
  return Object.fromEntries(present.map(([name, it]) => [name, inner(it)]));
}

/**
 * Validates a card, and returns the fields that the bridge uses.
 * @throws an error that names the missing or invalid field
 */
export function parseAgentCard(card: unknown): AgentCardFacts {
  const parsed = usableCard.safeParse(withoutNulls(card), { error: inputProblem });
  if (!parsed.success) {
    throw new Error(`its agent card cannot be used: ${zodIssuesText(parsed.error)}`);
  }
  return parsed.data;
}

export function declaresExtension(facts: AgentCardFacts, extension: string): boolean {
  return facts.extensions.some((each) => each.uri === extension);
}

/**
 * Returns the URL of the agent's HTTP+JSON interface (A2A 1.0), where the bridge can resume a stream with a cursor.
 * Returns null if the agent has no resumable streams.
 */
export function resumableStreamUrl(facts: AgentCardFacts): string | null {
  if (!declaresExtension(facts, RESUMABLE_STREAM_EXTENSION)) return null;
  const found = facts.interfaces.find(
    (each) => each.binding.toUpperCase() === 'HTTP+JSON' && !each.protocolVersion.startsWith('0.'),
  );
  if (found === undefined) return null;
  const { url, tenant } = found;
  // A2A 1.0 §8.3.2: a request names the tenant of its interface, over HTTP+JSON at the beginning of the path.
  return `${url.replace(/\/+$/, '')}${tenant === '' ? '' : `/${encodeURIComponent(tenant)}`}`;
}

/** Returns the URLs where the card may be, the most likely first. */
export function agentCardUrls(url: string): readonly string[] {
  if (new URL(url).pathname.endsWith('.json')) return [url];
  const below = url.endsWith('/') ? url : `${url}/`;
  return [
    ...new Set([
      new URL(AGENT_CARD_PATH, below).href,
      new URL(`/${AGENT_CARD_PATH}`, url).href,
      new URL(OLD_CARD_PATH, below).href,
    ]),
  ];
}

async function fetchFirstCard(places: readonly string[], fetchImpl: typeof fetch): Promise<unknown> {
  let missing: unknown;
  for (const place of places) {
    try {
      const response = await fetchImpl(place, { headers: { [A2A_VERSION_HEADER]: A2A_PROTOCOL_VERSION } });
      if (response.ok) return await response.json();
      missing ??= new HttpError(response.status, `HTTP ${String(response.status)} at ${place}`);
    } catch (error) {
      if (!(error instanceof HttpError) || error.status !== 404) throw error;
      missing ??= error;
    }
  }
  throw missing;
}
