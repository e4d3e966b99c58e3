/** Calls the two tools of the bridge that the card needs. */
import type { Decision, PendingAction } from '../../../../shared/client/index.ts';
import { fieldOf, isRecord } from '../../../../shared/runtime/record.ts';
import type { CallDecision } from '../../../../shared/text/decided-by-text.ts';
import type { McpAppHostConnection } from './host-connection.ts';

export interface CardAction {
  action: PendingAction;
  /** The code with which the card sends one decision. Undefined if the card cannot decide. */
  code: string | undefined;
}

interface ReportedDecision extends CallDecision {
  callId: string;
}

export interface SessionOnCard {
  sessionId: string;
  state: string;
  message: string;
  pending: readonly CardAction[];
  /** The decisions that the agent reports. */
  decided: readonly ReportedDecision[];
  question: string | undefined;
  /** The address of the approval page, where the person decides if the card cannot. */
  page: string | undefined;
}

/** A session as the host has reported it. Two agents may use the same session id. */
export interface SessionAddress {
  sessionId: string;
  agent: string | undefined;
}

export class CardTools {
  readonly #host: McpAppHostConnection;
  readonly #prefix: string;

  /** @param prefix the prefix of the bridge's tool names */
  constructor(host: McpAppHostConnection, prefix: string) {
    this.#host = host;
    this.#prefix = prefix;
  }

  async state(session: SessionAddress, waitSeconds = 0): Promise<SessionOnCard> {
    return sessionOf(
      await this.#host.callTool(`${this.#prefix}get_approval_card_state`, { ...session, waitSeconds }),
    );
  }

  async decide(session: SessionAddress, code: string, decision: Decision): Promise<SessionOnCard> {
    return sessionOf(
      await this.#host.callTool(`${this.#prefix}decide_on_approval_card`, { ...session, code, decision }),
    );
  }
}

/** Returns the session of a tool's result, or undefined if the result is not about a session. */
export function sessionOfResult(structured: unknown): SessionAddress | undefined {
  const sessionId = fieldOf(structured, 'sessionId');
  const agent = fieldOf(structured, 'agent');
  return typeof sessionId === 'string' && sessionId !== ''
    ? { sessionId, agent: typeof agent === 'string' && agent !== '' ? agent : undefined }
    : undefined;
}

/**
 * Reads a session from a tool result. The bridge omits empty fields from a result.
 * @throws Error if the result is not about a session
 */
function sessionOf(structured: unknown): SessionOnCard {
  const session = sessionOfResult(structured);
  if (session === undefined) throw new Error('The bridge gave an unexpected result.');
  const text = (name: string): string | undefined => {
    const value = fieldOf(structured, name);
    return typeof value === 'string' ? value : undefined;
  };
  const pending = fieldOf(structured, 'pending');
  const decided: unknown = fieldOf(structured, 'decided');
  return {
    sessionId: session.sessionId,
    state: text('state') ?? '',
    message: text('message') ?? '',
    pending: (Array.isArray(pending) ? pending : []).flatMap((each: unknown) => {
      const action = fieldOf(each, 'action');
      const code = fieldOf(each, 'code');
      if (!isPendingAction(action)) return [];
      return [
        {
          action: { ...action, expiresAt: action.expiresAt ?? null },
          code: typeof code === 'string' ? code : undefined,
        },
      ];
    }),
    decided: (Array.isArray(decided) ? decided : []).filter(isReportedDecision),
    question: text('question'),
    page: text('page'),
  };
}

/**
 * Checks only that the host has passed on the preview and the decisions. The bridge has already validated the action.
 */
function isPendingAction(value: unknown): value is PendingAction {
  return isRecord(value) && isRecord(value['preview']) && Array.isArray(value['decisions']);
}

function isReportedDecision(value: unknown): value is ReportedDecision {
  return (
    isRecord(value) &&
    ['callId', 'decision', 'by', 'channel'].every((name) => typeof value[name] === 'string')
  );
}
