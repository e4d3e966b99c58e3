/** Reads the A2A error in an HTTP response. `agent-fetch.ts` returns such a response, and throws for any other error. */
import { fromRestErrorBody } from '@a2a-js/sdk/errors';
import { z } from 'zod';
import { HttpError } from './request-errors.ts';

const restError = z.object({
  error: z.object({
    message: z.string(),
    details: z.array(z.record(z.string(), z.unknown())).default([]),
  }),
});

/**
 * Returns the response, if its status is no error.
 * @throws the A2A error in the response; HttpError if the response has none
 */
export async function refuseErrorResponse(response: Response): Promise<Response> {
  if (response.ok) return response;
  const body = restError.safeParse(await response.json());
  if (!body.success) throw new HttpError(response.status, `HTTP ${String(response.status)}`);
  const { message, details } = body.data.error;
  // `request-failure.ts` reads this project's reason from `data`, because the SDK keeps only the reasons that A2A
  // defines.
  throw Object.assign(fromRestErrorBody({ message, details }, { statusCode: response.status }), {
    data: details,
  });
}

const withStatus = z.union([z.object({ status: z.number() }), z.object({ statusCode: z.number() })]);

/** Returns true for the error of a response with status 404, whether the response contains an A2A error or not. */
export function isNotFound(error: unknown): boolean {
  const parsed = withStatus.safeParse(error).data;
  return parsed !== undefined && ('status' in parsed ? parsed.status : parsed.statusCode) === 404;
}
