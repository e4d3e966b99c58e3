/**
 * Corrects an error of the SDK. For invalid parameters, the SDK reports the problems as JSON, often as an internal error.
 * Pure.
 */
import { INTERNAL_ERROR, INVALID_PARAMS, type JSONRPCMessage } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { inputProblem } from '../../../shared/text/input-problem.ts';
import { parseJson } from '../../../shared/text/parse-json.ts';

const issues = z
  .array(
    z.looseObject({
      code: z.string().optional(),
      path: z.array(z.union([z.string(), z.number()])),
      message: z.string(),
    }),
  )
  .min(1);
type Issue = z.infer<typeof issues>[number];

/**
 * Replaces the SDK's error about invalid parameters with "invalid params" (JSON-RPC 2.0 §5.1). The new error names the
 * path and the reason of each problem. Any other message is returned unchanged.
 */
export function fixInvalidParamsError(message: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in message)) return message;
  const { code, message: text } = message.error;
  if (code !== INTERNAL_ERROR && code !== INVALID_PARAMS) return message;
  const wrong = issuesOf(text);
  if (wrong === undefined) return message;
  const told = wrong.slice(0, 5).map((issue) => `${issue.path.join('.')}: ${problemOf(issue)}`);
  return {
    ...message,
    error: { code: INVALID_PARAMS, message: `Invalid params: ${told.join('; ')}` },
  };
}

/** The SDK writes the problems alone, or after the method: `Invalid tools/call request: […]`. */
const REPORTED = /^(?:Invalid [\w/]+ request: )?(\[.*\])$/su;

function issuesOf(text: string): Issue[] | undefined {
  const [, json] = REPORTED.exec(text) ?? [];
  return json === undefined ? undefined : issues.safeParse(parseJson(json)).data;
}

/**
 * Returns the text of a problem. The SDK's issue does not contain the input, but its message says if the input was
 * missing.
 */
function problemOf(issue: Issue): string {
  const input = issue.message.endsWith('received undefined') ? undefined : null;
  // This line only restores the type of the issue.
  const raw = z.custom<z.core.$ZodRawIssue>().parse({ ...issue, input });
  const isOfZod = /^(?:Invalid|Too|Unrecognized)\b/u.test(issue.message);
  return isOfZod ? (inputProblem(raw) ?? issue.message) : issue.message;
}
