/** One call of a tool, over as many connections as it may take (R82). */
import { messageOf } from '../../shared/errors.ts';
import type { ToolRun } from '../tools/tool.ts';
import type { CallResult } from './call-result.ts';
import type { Connection } from './connection.ts';
import { NotDelivered } from './transports/server-transport.ts';

/** How often a call that may be repeated is made. */
const MAX_ATTEMPTS = 3;
/** How often any call is sent anew that has not reached its server. */
const MAX_UNDELIVERED = 5;

export interface CallRun extends Pick<ToolRun, 'signal' | 'output' | 'ask'> {
  /** Whether a call that was lost may be made again. */
  repeatable: boolean;
}

/**
 * @param connection gives the connection, as soon as there is one. @throws Error that names the server, for a model to read;
 * AbortError when the signal aborts.
 */
export async function callUntilAnswered(
  server: string,
  connection: () => Promise<Connection>,
  { tool, input, run }: { tool: string; input: Record<string, unknown>; run: CallRun },
): Promise<CallResult> {
  const { ConnectionLost } = await import('./connection.ts');
  const { signal, output, repeatable } = run;
  let undelivered = 0;
  for (let attempt = 1; ; attempt += 1) {
    const current = await connection();
    try {
      return await current.call({ tool, input, signal, progress: (line) => output(`${line}\n`) });
    } catch (error) {
      signal.throwIfAborted();
      const why = messageOf(error);
      const failure = (sentence: string): Error => new Error(sentence, { cause: error });
      if (error instanceof NotDelivered && (undelivered += 1) < MAX_UNDELIVERED) {
        attempt -= 1;
        continue;
      }
      if (!(error instanceof ConnectionLost)) throw failure(`The MCP server ${server} says: ${why}`);
      const lost = `The connection to the MCP server ${server} was lost while ${tool} ran: ${why}.`;
      if (!repeatable) throw failure(`${lost} Whether the call took effect is not known.`);
      if (attempt === MAX_ATTEMPTS) throw failure(`${lost} The call was made ${attempt} times.`);
      output(`[the server ${why}; the call is made again]\n`);
    }
  }
}
