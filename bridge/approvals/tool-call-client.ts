/**
 * Reads the capabilities of an MCP client that are needed for approvals, and sends forms to the person at that client.
 */
import { randomUUID } from 'node:crypto';
import type { McpServer, ServerContext } from '@modelcontextprotocol/server';
import { CLIENT_CAPABILITIES_META_KEY } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { APPROVAL_CARD_MIME_TYPE } from './approval-card.ts';
import type { WaitEndReason } from '../sessions/wait-for-session.ts';
import { rootDirectories } from '../agents/check-workspace.ts';
import type { Form, UrlForm } from './form-field.ts';
import { FORM_TIMEOUT_MS } from './form-timeout.ts';
import type { AnsweredPermitRound, AnsweredFormRound, AnsweredSessionRound } from './request-state.ts';

/** The MCP extension for pages in the chat (MCP Apps, SEP-1865). */
export const APPS_EXTENSION = 'io.modelcontextprotocol/ui';

/** The MCP extension for tasks (SEP-2663). */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** The time limit for `roots/list`, in milliseconds. It is short, because the client answers without a person. */
const ROOTS_TIMEOUT_MS = 5_000;

export interface ToolCallClient {
  /** True if the client accepts an MCP task instead of the result of a tool call. */
  readonly tasks: boolean;
  /**
   * How the client shows forms.
   * - `push`: the server sends a request during the tool call (MCP revisions up to 2025-11-25).
   * - `rounds`: the server returns the forms as the response to the tool call (MCP 2026-07-28).
   * - `none`: the client shows no forms.
   */
  readonly forms: 'push' | 'rounds' | 'none';
  /** True if the client shows pages of MCP Apps in its chat. */
  readonly cards: boolean;
  /** True if the client can open the URL of a form in URL mode. */
  readonly opensUrls: boolean;
  /** The answers to forms about a session. Undefined if this request contains none. */
  readonly round: AnsweredSessionRound | undefined;
  /** The answer to the form that asks whether a task may start. Undefined if this request contains none. */
  readonly permit: AnsweredPermitRound | undefined;
  /**
   * The forms that this client shows now, over all its tool calls. The key names the agent, the task and the form. The
   * promise settles when the form has ended and its decision was sent.
   */
  readonly openForms: Map<string, Promise<{ end: WaitEndReason } | undefined>>;
  /**
   * Sends a form during the tool call (`forms: 'push'`). An abort of the signal withdraws the form.
   * @param id the id of the form; `completed` takes the same id
   * @throws Error if the client cannot show the form, if the form is withdrawn, or if the person does not answer in
   * time
   */
  elicit(form: Form | UrlForm, signal: AbortSignal, id?: string): Promise<unknown>;
  /** Notifies the client that the person has decided on the page that a form in URL mode has opened. */
  completed(id: string): Promise<void>;
  /** Returns the local directories of the client's MCP roots. Returns an empty list if the client reports none. */
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

function declaredBy({ server }: McpServer, { mcpReq }: ServerContext): Capabilities | undefined {
  return declaredIn(mcpReq) ?? capabilities.safeParse(server.getClientCapabilities()).data;
}

/** Returns true if the client shows forms to a person. @param unattended true if a program answers the forms */
export function showsForms(server: McpServer, context: ServerContext, unattended: boolean): boolean {
  return !unattended && declaresForms(declaredBy(server, context));
}

/** Returns true if the client shows the approval card to a person. @param unattended see `showsForms` */
export function showsApprovalCards(server: McpServer, context: ServerContext, unattended: boolean): boolean {
  return !unattended && declaresCards(declaredBy(server, context));
}

/**
 * Reads the capabilities of a client, and its answers to forms.
 * @param round the answers to the forms of an earlier request; undefined if there are none
 */
export function toolCallClientOf(
  { server }: McpServer,
  { mcpReq }: ServerContext,
  { round, unattended }: { round: AnsweredFormRound | undefined; unattended: boolean },
): ToolCallClient {
  // In MCP 2026-07-28, each request declares the capabilities. In older revisions, the connection declares them once.
  const enveloped = declaredIn(mcpReq);
  const declared = enveloped ?? capabilities.safeParse(server.getClientCapabilities()).data;
  const forms = unattended || !declaresForms(declared) ? 'none' : enveloped === undefined ? 'push' : 'rounds';
  return {
    tasks: declaresTasks(enveloped),
    forms,
    cards: !unattended && declaresCards(declared),
    opensUrls: opensUrls(declared),
    openForms: openFormsOf(server),
    round: round?.about === 'session' ? round : undefined,
    permit: round?.about === 'permit' ? round : undefined,
    // This function sends each form itself, because a form that the SDK's `inputRequired` sends to older clients cannot
    // be withdrawn.
    async elicit(form, signal, id = randomUUID()) {
      sendPingFirst(server, mcpReq);
      // Only MCP revisions up to 2025-11-25 have `elicitationId`, in URL mode. `push` clients use these revisions.
      const params = form.mode === 'url' ? { ...form, elicitationId: id } : form;
      return mcpReq.elicitInput(params, { signal, timeout: FORM_TIMEOUT_MS });
    },
    completed: (id) => server.createElicitationCompletionNotifier(id, { relatedRequestId: mcpReq.id })(),
    async roots(signal) {
      // In MCP 2026-07-28, a server sends no requests. So it cannot ask for roots.
      if (enveloped !== undefined || declared?.roots === undefined) return [];
      try {
        sendPingFirst(server, mcpReq);
        const { roots } = await mcpReq.send({ method: 'roots/list' }, { signal, timeout: ROOTS_TIMEOUT_MS });
        return rootDirectories(roots.map(({ uri }) => uri));
      } catch {
        return [];
      }
    },
  };
}

const openForms = new WeakMap<McpServer['server'], ToolCallClient['openForms']>();

function openFormsOf(server: McpServer['server']): ToolCallClient['openForms'] {
  const forms: ToolCallClient['openForms'] = openForms.get(server) ?? new Map();
  openForms.set(server, forms);
  return forms;
}

const serversAfterPing = new WeakSet<McpServer['server']>();

/**
 * Sends a ping before the first other request. The first request of a server has the id 0, and clients on the 1.x SDK
 * ignore a cancellation of that id. The response to the ping does not matter, and some clients give none.
 */
function sendPingFirst(server: McpServer['server'], mcpReq: ServerContext['mcpReq']): void {
  if (serversAfterPing.has(server)) return;
  serversAfterPing.add(server);
  mcpReq.send({ method: 'ping' }).catch(() => undefined);
}

/**
 * Returns true if the client accepts an MCP task as a result. SEP-2663: "A server MUST NOT return `CreateTaskResult` to
 * a client that did not include the extension capability on its request".
 */
export function declaresTasksIn({ mcpReq }: ServerContext): boolean {
  return declaresTasks(declaredIn(mcpReq));
}

function declaresTasks(declared: Capabilities | undefined): boolean {
  return Object.hasOwn(declared?.extensions ?? {}, TASKS_EXTENSION);
}

const appsSupport = z.object({ mimeTypes: z.array(z.string()) });

/**
 * Returns true if the client shows pages of MCP Apps. MCP Apps, "Client (Host) Capabilities": the settings of the
 * extension name the media types that the client shows.
 */
function declaresCards(declared: Capabilities | undefined): boolean {
  const { data } = appsSupport.safeParse(declared?.extensions?.[APPS_EXTENSION]);
  return data?.mimeTypes.includes(APPROVAL_CARD_MIME_TYPE) ?? false;
}

/**
 * Returns true if the client supports URL mode. MCP 2025-11-25, elicitation: "An empty capabilities object is
 * equivalent to declaring support for `form` mode only".
 */
function opensUrls(declared: Capabilities | undefined): boolean {
  return declared?.elicitation?.url !== undefined;
}

/** Returns true if the capabilities in this request include URL mode. */
export function opensUrlsIn({ mcpReq }: ServerContext): boolean {
  return opensUrls(declaredIn(mcpReq));
}

/**
 * Returns true if the client supports form mode. MCP 2025-11-25, elicitation: an empty object declares form mode only.
 */
function declaresForms(declared: Capabilities | undefined): boolean {
  const elicitation = declared?.elicitation;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}
