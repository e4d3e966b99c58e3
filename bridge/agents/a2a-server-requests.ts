/**
 * Sends requests to `a2a-server` that A2A does not define: costs, receipts, the search for tasks, the abort of a tool
 * execution, the approval page. If the card does not declare the tool-approval extension, `isJournalUnreachable`
 * returns false, and each other function returns null. The functions that read also return null for a 404 response.
 * `pageLink` returns null for any error response.
 */
import { z } from 'zod';
import { type AbortAnswer, abortAnswerSchema } from '../../shared/protocol/abort-answer.ts';
import {
  costReportSchema,
  taskCostsSchema,
  type CostReport,
  type TaskCosts,
} from '../../shared/protocol/cost-report.ts';
import { taskSearchResultSchema, type TasksByIdPrefix } from '../../shared/protocol/task-search-result.ts';
import { TOOL_APPROVAL_EXTENSION } from '../../shared/protocol/tool-approval.ts';
import type { PageTarget } from '../../shared/net/page-address.ts';
import { type AgentCardFacts, declaresExtension } from './card.ts';
import { HttpError } from './http/request-errors.ts';
import { isNotFound, refuseErrorResponse } from './http/rest-refusal.ts';

const pageLinkSchema = z.object({ url: z.url({ protocol: /^https?$/ }), expiresAt: z.iso.datetime() });
/** A one-time link that signs a browser in to the approval page. `expiresAt` is a time in RFC 3339. */
export type PageLink = z.infer<typeof pageLinkSchema>;

export type ReceiptMediaType = 'application/json' | 'text/markdown';

export interface A2aServerRequests {
  /** Finds tasks by a prefix of their id. */
  findByPrefix(prefix: string): Promise<TasksByIdPrefix | null>;
  /** Returns the costs of the last days, by UTC day. */
  costs(days: number): Promise<CostReport | null>;
  /** Returns the cost of each model request of the task. */
  taskCosts(taskId: string): Promise<TaskCosts | null>;
  /**
   * Returns the signed receipt of a task. `events` limits the receipt to the first events of the task. Also returns
   * null if the agent has no such task.
   */
  receipt(taskId: string, as: ReceiptMediaType, events?: number): Promise<string | null>;
  /** Returns the fingerprint of the key with which the agent signs receipts. */
  receiptKey(): Promise<string | null>;
  /** Aborts one tool execution. */
  abortTool(toolId: string, reason: string): Promise<AbortAnswer | null>;
  /** Returns true if the server says that it cannot write its journal. */
  isJournalUnreachable(): Promise<boolean>;
  /**
   * Creates a one-time link to the agent's approval page. The link gives access, so a model must not see it. Also
   * returns null if the link leads to an origin that is not on the agent's card.
   */
  pageLink(target: PageTarget): Promise<PageLink | null>;
}

interface RequestOptions {
  url: string;
  facts: AgentCardFacts;
  fetch: typeof fetch;
  /** Returns a signal that aborts when the time for one answer is over. */
  timeoutSignal: () => AbortSignal;
}

/**
 * The time limit in milliseconds for the answer about the journal. It is short, because a reply to the MCP client waits
 * for this answer.
 */
const READINESS_TIMEOUT_MS = 2_000;

const receiptKeySchema = z.object({ fingerprint: z.string() });

export function createA2aServerRequests({
  url,
  facts,
  fetch: send,
  timeoutSignal,
}: RequestOptions): A2aServerRequests {
  const hasEndpoints = declaresExtension(facts, TOOL_APPROVAL_EXTENSION);

  async function askForText(
    path: string,
    parameters: Readonly<Record<string, string>> = {},
    accept?: string,
  ): Promise<string | null> {
    if (!hasEndpoints) return null;
    const address = new URL(path, url);
    for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
    const headers = accept === undefined ? {} : { headers: { accept } };
    try {
      const response = await refuseErrorResponse(
        await send(address, { signal: timeoutSignal(), ...headers }),
      );
      return await response.text();
    } catch (error) {
      // A server that implements the extension may still lack this URL.
      if (isNotFound(error)) return null;
      throw error;
    }
  }

  async function ask<T>(
    schema: { parse: (answer: unknown) => T },
    path: string,
    parameters?: Readonly<Record<string, string>>,
  ): Promise<T | null> {
    const answer = await askForText(path, parameters);
    return answer === null ? null : schema.parse(JSON.parse(answer));
  }

  const post = (path: string, body: unknown): Promise<Response> =>
    send(new URL(path, url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify(body),
      signal: timeoutSignal(),
    });

  return {
    findByPrefix: (prefix) => ask(taskSearchResultSchema, '/api/tasks', { prefix }),
    costs: (days) => ask(costReportSchema, '/api/costs', { days: String(days) }),
    taskCosts: (taskId) => ask(taskCostsSchema, `/api/tasks/${encodeURIComponent(taskId)}/costs`),
    receipt: (taskId, as, events) =>
      askForText(
        `/api/tasks/${encodeURIComponent(taskId)}/receipt`,
        events === undefined ? {} : { events: String(events) },
        as,
      ),
    receiptKey: async () => (await ask(receiptKeySchema, '/api/receipt-key'))?.fingerprint ?? null,
    async abortTool(toolId, reason) {
      if (!hasEndpoints) return null;
      const response = await post(`/api/tools/abort/${encodeURIComponent(toolId)}`, { reason });
      return abortAnswerSchema.parse(await (await refuseErrorResponse(response)).json());
    },
    async isJournalUnreachable() {
      if (!hasEndpoints) return false;
      try {
        await send(new URL('/readyz', url), { signal: AbortSignal.timeout(READINESS_TIMEOUT_MS) });
        return false;
      } catch (error) {
        // The body of a 503 lists the reasons: {"status": "unavailable", "reasons": ["journal-unreachable"]}.
        if (!(error instanceof HttpError) || error.status !== 503) throw error;
        return error.excerpt.includes('"journal-unreachable"');
      }
    },
    async pageLink(target) {
      if (!hasEndpoints) return null;
      const response = await post('/page/links', target);
      if (!response.ok) return null;
      const link = pageLinkSchema.parse(await response.json());
      const origins = [url, ...facts.interfaces.map((each) => each.url)].map((each) => new URL(each).origin);
      return origins.includes(new URL(link.url).origin) ? link : null;
    },
  };
}
