/** Sends one tool call, on several connections if needed. */
import { errorMessageOf } from '../../shared/runtime/errors.ts';
import type { McpServerToolResult } from './call-result.ts';
import type { McpServerConnection, McpToolCall } from './connection.ts';
import { MessageNotDeliveredError, McpSessionLostError } from './transports/server-transport.ts';

const MAX_ATTEMPTS_OF_REPEATABLE_CALL = 3;
const MAX_UNDELIVERED_ATTEMPTS = 5;
/** The maximum number of attempts in a row that the server refuses because of a lost MCP session. */
const MAX_REFUSED_ATTEMPTS = 2;

export interface McpCallContext extends Omit<McpToolCall, 'tool' | 'input'> {
  /** True if the tool call may run again after its answer is lost. */
  repeatable: boolean;
  /** Called before each attempt. @throws OwnershipLostError if another server may continue the task */
  requireClaim: () => void;
}

/**
 * Calls the tool until the server answers, or until no attempts are left.
 * @param connection resolves when there is a connection
 * @throws Error with the server's name, for a model; AbortError if the signal aborts; OwnershipLostError
 */
export async function callUntilAnswered(
  server: string,
  connection: () => Promise<Pick<McpServerConnection, 'call'>>,
  { tool, input, run }: { tool: string; input: Record<string, unknown>; run: McpCallContext },
): Promise<McpServerToolResult> {
  const { CallIdleError, ConnectionLostError } = await import('./connection.ts');
  const { signal, output, repeatable } = run;
  let undelivered = 0;
  let refused = 0;
  for (let attempt = 1; ; attempt += 1) {
    const current = await connection();
    run.requireClaim();
    try {
      return await current.call({ ...run, tool, input });
    } catch (error) {
      signal.throwIfAborted();
      const why = errorMessageOf(error);
      const failure = (sentence: string): Error => new Error(sentence, { cause: error });
      refused = error instanceof McpSessionLostError ? refused + 1 : 0;
      if (error instanceof MessageNotDeliveredError) undelivered += 1;
      if (
        error instanceof MessageNotDeliveredError &&
        undelivered < MAX_UNDELIVERED_ATTEMPTS &&
        refused < MAX_REFUSED_ATTEMPTS
      ) {
        attempt -= 1;
        continue;
      }
      if (error instanceof CallIdleError)
        throw failure(
          `While ${tool} ran, the MCP server ${server} ${why}, its idle time limit. The outcome of the call is unknown.`,
        );
      if (!(error instanceof ConnectionLostError)) throw failure(`The MCP server ${server} reports: ${why}`);
      const lost = `The connection to the MCP server ${server} was lost while ${tool} ran: ${why}.`;
      if (!repeatable) throw failure(`${lost} The outcome of the call is unknown.`);
      if (attempt === MAX_ATTEMPTS_OF_REPEATABLE_CALL)
        throw failure(`${lost} None of ${attempt} attempts got an answer.`);
      output(`[the server ${why}; calling again]\n`);
    }
  }
}
