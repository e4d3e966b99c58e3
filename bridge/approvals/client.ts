/** Reads the capabilities that a client declares for approvals, and sends forms to its person. */
import { randomUUID } from 'node:crypto';
import type { McpServer, ServerContext } from '@modelcontextprotocol/server';
import { CLIENT_CAPABILITIES_META_KEY } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { CARD_MIME_TYPE } from '../../shared/protocol/approval-card.ts';
import { rootDirectories } from '../agents/check-workspace.ts';
import type { Form, UrlForm } from './form-field.ts';
import type { PermitRound, Round, SessionRound } from './request-state.ts';

/** The MCP extension for pages in the chat (MCP Apps, SEP-1865). */
export const APPS_EXTENSION = 'io.modelcontextprotocol/ui';

/** The MCP extension for tasks (SEP-2663). */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** The time limit for a person's answer to a form, in milliseconds. After it the call returns the pending actions. */
const ANSWER_MS = 10 * 60_000;
/** The time limit for `roots/list`, in milliseconds. The client answers it without a person, so the limit is short. */
const ROOTS_MS = 5_000;

export interface Client {
  /** True if the client accepts an MCP task instead of a result. */
  readonly tasks: boolean;
  /**
   * The way in which the client shows forms.
   * - `push`: the server sends a request during the call (up to 2025-11-25).
   * - `rounds`: the server answers the call with the forms (2026-07-28).
   * - `none`: the client shows no forms.
   */
  readonly forms: 'push' | 'rounds' | 'none';
  /** True if the client shows pages of MCP Apps in its chat. */
  readonly cards: boolean;
  /** True if the client can open the URL of a form in URL mode. */
  readonly opensUrls: boolean;
  /** The answers to forms about a session, if this request has any. */
  readonly round: SessionRound | undefined;
  /** The answer to the form that asks whether a task may start, if this request has one. */
  readonly permit: PermitRound | undefined;
  /**
   * Sends a form during the call (`push`). Aborting the signal withdraws the form.
   * @param id the form's id; `completed` takes the same id
   * @throws when the client cannot show the form, the form is withdrawn, or the person does not answer in time
   */
  elicit(form: Form | UrlForm, signal: AbortSignal, id?: string): Promise<unknown>;
  /** Notifies the client that the person has finished on the page of a form in URL mode. */
  completed(id: string): Promise<void>;
  /** Returns the local directories of the client's MCP roots; empty if the client reports none. */
  roots(signal: AbortSignal): Promise<readonly string[]>;
}

const capabilities = z.object({
  elicitation: z
    .looseObject({ form: z.unknown().optional(), url: z.unknown().optional() })
    .optional()
    .catch(undefined),
  roots: z.looseObject({}).optional().catch(undefined),
  extensions: z.record(z.string(), z.unknown()).optional().catch(undefined),
});
type Capabilities = z.infer<typeof capabilities>;
const envelope = z.looseObject({ [CLIENT_CAPABILITIES_META_KEY]: capabilities });

function declaredIn(mcpReq: ServerContext['mcpReq']): Capabilities | undefined {
  return envelope.safeParse(mcpReq.envelope).data?.[CLIENT_CAPABILITIES_META_KEY];
}

/**
 * Returns whether the client shows forms to a person. @param unattended true if the client answers forms without a
 * person
 */
export function showsForms({ server }: McpServer, { mcpReq }: ServerContext, unattended: boolean): boolean {
  const declared = declaredIn(mcpReq) ?? capabilities.safeParse(server.getClientCapabilities()).data;
  return !unattended && declaresForms(declared);
}

/** Returns whether the client shows the approval card to a person. @param unattended see `showsForms` */
export function showsCards({ server }: McpServer, { mcpReq }: ServerContext, unattended: boolean): boolean {
  const declared = declaredIn(mcpReq) ?? capabilities.safeParse(server.getClientCapabilities()).data;
  return !unattended && declaresCards(declared);
}

/**
 * Reads the capabilities that a client declares, and its answers to forms.
 * @param round answers to forms of an earlier round, if this request has any
 */
export function clientOf(
  { server }: McpServer,
  { mcpReq }: ServerContext,
  { round, unattended }: { round: Round | undefined; unattended: boolean },
): Client {
  // Under 2026-07-28 each request declares capabilities. Older revisions declare them once per connection.
  const enveloped = declaredIn(mcpReq);
  const declared = enveloped ?? capabilities.safeParse(server.getClientCapabilities()).data;
  const forms = unattended || !declaresForms(declared) ? 'none' : enveloped === undefined ? 'push' : 'rounds';
  return {
    tasks: declaresTasks(enveloped),
    forms,
    cards: !unattended && declaresCards(declared),
    opensUrls: opensUrls(declared),
    round: round?.about === 'session' ? round : undefined,
    permit: round?.about === 'permit' ? round : undefined,
    // The bridge cannot withdraw a form that the SDK's `inputRequired` shim sends. So the bridge sends each form
    // itself.
    async elicit(form, signal, id = randomUUID()) {
      await spendFirstId(server, mcpReq);
      // Only revisions up to 2025-11-25 have `elicitationId`, in URL mode. The same revisions have `push`.
      const params = form.mode === 'url' ? { ...form, elicitationId: id } : form;
      return mcpReq.elicitInput(params, { signal, timeout: ANSWER_MS });
    },
    completed: (id) => server.createElicitationCompletionNotifier(id, { relatedRequestId: mcpReq.id })(),
    async roots(signal) {
      // Under MCP 2026-07-28 a server sends no requests, so it cannot ask for roots.
      if (enveloped !== undefined || declared?.roots === undefined) return [];
      try {
        await spendFirstId(server, mcpReq);
        const { roots } = await mcpReq.send({ method: 'roots/list' }, { signal, timeout: ROOTS_MS });
        return rootDirectories(roots.map(({ uri }) => uri));
      } catch {
        return [];
      }
    },
  };
}

const spent = new WeakSet<McpServer['server']>();

/**
 * A server's first request has the id 0. Clients on the 1.x SDK ignore the cancellation of that id. So the bridge
 * spends the id 0 on a ping.
 */
async function spendFirstId(server: McpServer['server'], mcpReq: ServerContext['mcpReq']): Promise<void> {
  if (spent.has(server)) return;
  spent.add(server);
  await mcpReq.send({ method: 'ping' });
}

/**
 * SEP-2663: "A server MUST NOT return `CreateTaskResult` to a client that did not include the extension capability on
 * its request".
 */
export function declaresTasksIn({ mcpReq }: ServerContext): boolean {
  return declaresTasks(declaredIn(mcpReq));
}

function declaresTasks(declared: Capabilities | undefined): boolean {
  return Object.hasOwn(declared?.extensions ?? {}, TASKS_EXTENSION);
}

const appsSupport = z.object({ mimeTypes: z.array(z.string()) });

/** MCP Apps, "Client (Host) Capabilities": the extension's settings name the types of pages that the host shows. */
function declaresCards(declared: Capabilities | undefined): boolean {
  const { data } = appsSupport.safeParse(declared?.extensions?.[APPS_EXTENSION]);
  return data?.mimeTypes.includes(CARD_MIME_TYPE) ?? false;
}

/** "An empty capabilities object is equivalent to declaring support for `form` mode only" (MCP 2025-11-25, elicitation). */
function opensUrls(declared: Capabilities | undefined): boolean {
  return declared?.elicitation?.url !== undefined;
}

/** Returns whether the client opens URLs, by the capabilities of this request. */
export function opensUrlsIn({ mcpReq }: ServerContext): boolean {
  return opensUrls(declaredIn(mcpReq));
}

/** MCP 2025-11-25, elicitation: an empty object declares form mode only. */
function declaresForms(declared: Capabilities | undefined): boolean {
  const elicitation = declared?.elicitation;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}
