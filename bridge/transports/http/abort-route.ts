/**
 * The route `POST /api/tools/abort/:toolId`, which aborts one tool execution, for clients without MCP. The response is
 * the same as that of the MCP method `tools/abort`.
 */
import { z } from 'zod';
import type { AbortAnswer } from '../../../shared/protocol/abort-answer.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { NO_BODY, readJsonBody } from './json-body.ts';
import { rpcErrorResponse } from './rpc-error.ts';
import { inputProblem, zodIssuesText } from '../../../shared/text/input-problem.ts';

export const ABORT_PATH_PREFIX = '/api/tools/abort/';

export type AbortTool = (request: { toolId: string; reason: string }) => Promise<AbortAnswer>;

const wanted = z.strictObject({ reason: z.string().min(1).max(10_000).optional() }).optional();

/** Returns the tool id in the path of an abort request. Returns undefined for another path. */
export function toolIdInPath(path: string): string | undefined {
  if (!path.startsWith(ABORT_PATH_PREFIX)) return undefined;
  const id = path.slice(ABORT_PATH_PREFIX.length);
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

/** Answers an abort request. The body is optional: `{"reason": "…"}`. */
export async function answerAbortRequest(
  request: Request,
  toolId: string,
  abort: AbortTool,
): Promise<Response> {
  if (request.method !== 'POST')
    return rpcErrorResponse(405, `${ABORT_PATH_PREFIX}<toolId> takes POST.`, { headers: { Allow: 'POST' } });
  const read = request.headers.has('content-type') ? await readJsonBody(request) : NO_BODY;
  if (read.type === 'refused') return read.response;
  const { data, error } = wanted.safeParse(read.body, { error: inputProblem });
  if (error) return rpcErrorResponse(400, `The body is optional, {"reason": "…"}: ${zodIssuesText(error)}.`);
  try {
    return Response.json(await abort({ toolId, reason: data?.reason ?? 'aborted over HTTP' }));
  } catch (failure) {
    if (failure instanceof ProductError) return rpcErrorResponse(502, failure.message);
    throw failure;
  }
}
