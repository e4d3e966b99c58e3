/** What a client has declared that matters to approvals, and how a form reaches its person. */
import { randomUUID } from 'node:crypto';
import type { McpServer, ServerContext } from '@modelcontextprotocol/server';
import { CLIENT_CAPABILITIES_META_KEY } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { rootDirectories } from '../agents/allowed-workspaces.ts';
import type { Form, UrlForm } from './form-field.ts';
import type { PermitRound, Round, SessionRound } from './request-state.ts';

/** The MCP extension for tasks (SEP-2663). */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** A person has this long to answer a form, in milliseconds; after that the call returns what is pending. */
const ANSWER_MS = 10 * 60_000;
/** A program answers this, no person. */
const ROOTS_MS = 5_000;

export interface Client {
  /** It takes a task in place of a result. */
  readonly tasks: boolean;
  /**
   * How it can be asked: by a request of its own beside the call (`push`, up to 2025-11-25), by answering the call with
   * the forms (`rounds`, 2026-07-28), or not at all.
   */
  readonly forms: 'push' | 'rounds' | 'none';
  /** It opens the addresses of forms in URL mode for its person. */
  readonly opensUrls: boolean;
  /** The answers to forms about a session. */
  readonly round: SessionRound | undefined;
  /** The answer to whether a task may start as the call wants it. */
  readonly permit: PermitRound | undefined;
  /**
   * Asks by `push`. Aborting the signal withdraws the form.
   * @param id names a form in URL mode, for `completed`
   * @throws when the form could not be shown, was withdrawn, or was not answered in time
   */
  elicit(form: Form | UrlForm, signal: AbortSignal, id?: string): Promise<unknown>;
  /** Says that what the person was to do at the address of such a form is done. */
  completed(id: string): Promise<void>;
  /** The directories of this machine that the client says its user works in; none where it does not say. */
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

/** Whether a person at the client can be asked in a form. @param unattended the client answers forms by itself */
export function showsForms({ server }: McpServer, { mcpReq }: ServerContext, unattended: boolean): boolean {
  const declared = declaredIn(mcpReq) ?? capabilities.safeParse(server.getClientCapabilities()).data;
  return !unattended && declaresForms(declared);
}

/** @param round the answers that came with the call, if its client was asked before */
export function clientOf(
  { server }: McpServer,
  { mcpReq }: ServerContext,
  { round, unattended }: { round: Round | undefined; unattended: boolean },
): Client {
  // 2026-07-28 declares with each request, older revisions once for the connection.
  const enveloped = declaredIn(mcpReq);
  const declared = enveloped ?? capabilities.safeParse(server.getClientCapabilities()).data;
  const forms = unattended || !declaresForms(declared) ? 'none' : enveloped === undefined ? 'push' : 'rounds';
  return {
    tasks: declaresTasks(enveloped),
    forms,
    opensUrls: opensUrls(declared),
    round: round?.about === 'session' ? round : undefined,
    permit: round?.about === 'permit' ? round : undefined,
    // Not by the SDK's shim for `inputRequired`: a form that it has sent cannot be withdrawn.
    async elicit(form, signal, id = randomUUID()) {
      await spendFirstId(server, mcpReq);
      // `elicitationId` is part of URL mode up to 2025-11-25 only, and so is `push`.
      const params = form.mode === 'url' ? { ...form, elicitationId: id } : form;
      return mcpReq.elicitInput(params, { signal, timeout: ANSWER_MS });
    },
    completed: (id) => server.createElicitationCompletionNotifier(id, { relatedRequestId: mcpReq.id })(),
    async roots(signal) {
      // Under 2026-07-28 a server has no requests of its own.
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

/** Clients on the 1.x SDK ignore the cancellation of a request whose id is 0, the first of a server: a ping takes it. */
async function spendFirstId(server: McpServer['server'], mcpReq: ServerContext['mcpReq']): Promise<void> {
  if (spent.has(server)) return;
  spent.add(server);
  await mcpReq.send({ method: 'ping' });
}

/** "A server MUST NOT return `CreateTaskResult` to a client that did not include the extension capability on its request". */
export function declaresTasksIn({ mcpReq }: ServerContext): boolean {
  return declaresTasks(declaredIn(mcpReq));
}

function declaresTasks(declared: Capabilities | undefined): boolean {
  return Object.hasOwn(declared?.extensions ?? {}, TASKS_EXTENSION);
}

/** "An empty capabilities object is equivalent to declaring support for `form` mode only" (MCP 2025-11-25, elicitation). */
function opensUrls(declared: Capabilities | undefined): boolean {
  return declared?.elicitation?.url !== undefined;
}

/** Whether the client of this request opens URLs, where it declares that with each request. */
export function opensUrlsIn({ mcpReq }: ServerContext): boolean {
  return opensUrls(declaredIn(mcpReq));
}

/** MCP 2025-11-25, elicitation: an empty object stands for form mode alone. */
function declaresForms(declared: Capabilities | undefined): boolean {
  const elicitation = declared?.elicitation;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}
