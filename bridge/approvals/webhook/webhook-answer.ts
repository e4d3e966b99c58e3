/**
 * Reads the receiver's response to a post. Pure. D1: only a valid decision has an effect. So the response must be a
 * valid list of decisions.
 */
import { z } from 'zod';
import { errorMessageOf } from '../../../shared/runtime/errors.ts';
import {
  type DecisionInput,
  decisionInputSchema,
  decisionsOfToolCall,
  toPersonDecision,
} from '../decision-input.ts';
import type { PersonDecision } from '../../dialects/dialect.ts';
import type { ApprovalRequestId } from './list-approval-requests.ts';
import { inputProblem, zodIssuesText } from '../../../shared/text/input-problem.ts';

export type WebhookAnswer =
  /** The receiver has accepted the post, and has not decided yet. */
  | { type: 'later' }
  | { type: 'decisions'; decisions: readonly DecisionInput[] }
  /** The receiver has accepted the post, but its response is not a valid list of decisions. */
  | { type: 'malformed'; problem: string }
  /** The post failed. A retry may succeed. */
  | { type: 'troubled'; problem: string }
  /** The receiver refuses the post. A retry would not help. */
  | { type: 'refused'; problem: string };

const decided = z.strictObject({ decisions: z.array(decisionInputSchema).min(1).max(100) });

interface WebhookResponse {
  status: number;
  contentType: string;
  body: string;
}

export function parseWebhookAnswer({ status, contentType, body }: WebhookResponse): WebhookAnswer {
  if (status >= 300 && status < 400)
    return {
      type: 'refused',
      problem: `it redirects (HTTP ${String(status)}), which is not followed: set its new address`,
    };
  // RFC 9110 §15.5.9 and RFC 6585 §4 allow the client to retry after 408 and 429.
  if (status >= 500 || status === 408 || status === 429)
    return { type: 'troubled', problem: `it answered with an error (HTTP ${String(status)})` };
  if (status < 200 || status >= 400)
    return { type: 'refused', problem: `it refused the post (HTTP ${String(status)})` };
  // Many receivers respond "ok" in plain text, which decides nothing.
  if (body.trim() === '' || !/^application\/(?:[\w.+-]+\+)?json\b/i.test(contentType))
    return { type: 'later' };
  try {
    const parsed = decided.safeParse(JSON.parse(body), { error: inputProblem });
    return parsed.success
      ? { type: 'decisions', decisions: parsed.data.decisions }
      : { type: 'malformed', problem: zodIssuesText(parsed.error) };
  } catch (error) {
    return { type: 'malformed', problem: errorMessageOf(error) };
  }
}

/**
 * Converts the decisions in a response. D2: a decision is valid only for what the person saw. So each decision must
 * contain the code that was posted.
 * @throws ProductError INVALID_DECISION if a decision is invalid
 * @throws Error if a decision is about a call that was not posted
 */
export function parsePostedDecisions(
  decisions: readonly DecisionInput[],
  posted: readonly ApprovalRequestId[],
): readonly PersonDecision[] {
  return decisionsOfToolCall({}, decisions).map((each) => {
    if (!posted.some(({ callId, shown }) => callId === each.callId && shown === each.shown))
      throw new Error(`${each.callId} with code ${each.shown} was not in the post`);
    return toPersonDecision(each);
  });
}
