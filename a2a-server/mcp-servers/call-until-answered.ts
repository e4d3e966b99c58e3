/** Makes one tool call, on several connections if needed (R82). */
import { messageOf } from '../../shared/runtime/errors.ts';
import type { McpCallResult } from './call-result.ts';
import type { McpServerConnection, McpToolCall } from './connection.ts';
import { MessageNotDelivered, MessageRefused } from './transports/server-transport.ts';

/** The maximum number of attempts for a repeatable call. */
const MAX_ATTEMPTS = 3;
/** The maximum number of attempts for a call that its server has not received. */
const MAX_UNDELIVERED = 5;
/** The maximum number of attempts in a row for a call that a server refuses because it has lost the session. */
const MAX_REFUSED = 2;

export interface McpCallContext extends Omit<McpToolCall, 'tool' | 'input'> {
  /** True if the call may run again after its answer is lost. */
  repeatable: boolean;
}

/**
 * Calls the tool until it answers, or until no attempts are left.
 * @param connection resolves with a connection when one exists
 * @throws Error with the server's name, for a model; AbortError if the signal aborts
 */
export async function callUntilAnswered(
  server: string,
  connection: () => Promise<McpServerConnection>,
  { tool, input, run }: { tool: string; input: Record<string, unknown>; run: McpCallContext },
): Promise<McpCallResult> {
  const { CallIdle, ConnectionLost } = await import('./connection.ts');
  const { signal, output, repeatable } = run;
  let undelivered = 0;
  let refused = 0;
  for (let attempt = 1; ; attempt += 1) {
    const current = await connection();
    try {
      return await current.call({ ...run, tool, input });
    } catch (error) {
      signal.throwIfAborted();
      const why = messageOf(error);
      const failure = (sentence: string): Error => new Error(sentence, { cause: error });
      refused = error instanceof MessageRefused ? refused + 1 : 0;
      if (error instanceof MessageNotDelivered) undelivered += 1;
      if (error instanceof MessageNotDelivered && undelivered < MAX_UNDELIVERED && refused < MAX_REFUSED) {
        attempt -= 1;
        continue;
      }
      if (error instanceof CallIdle)
        throw failure(
          `While ${tool} ran, the MCP server ${server} ${why}, its idle time limit. The outcome of the call is unknown.`,
        );
      if (!(error instanceof ConnectionLost)) throw failure(`The MCP server ${server} reports: ${why}`);
      const lost = `The connection to the MCP server ${server} was lost while ${tool} ran: ${why}.`;
      if (!repeatable) throw failure(`${lost} The outcome of the call is unknown.`);
      if (attempt === MAX_ATTEMPTS) throw failure(`${lost} None of ${attempt} attempts got an answer.`);
      output(`[the server ${why}; calling again]\n`);
    }
  }
}
