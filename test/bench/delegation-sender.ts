/** Sends delegations: blocking messages whose plan appends a line to a file, without an approval. */
import { randomUUID } from 'node:crypto';
import { Agent as HttpAgent, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { TOOL_APPROVAL_EXTENSION } from '../../shared/protocol/extensions.ts';
import { rpcBody } from '../support/rpc-answer.ts';

type Outcome = 'completed' | 'refused' | 'failed';
export type SendDelegation = () => Promise<Outcome>;

/** Returns a function that delegates once, over kept connections. */
export function delegationSender(url: string, token: string): SendDelegation {
  // The server closes a connection that is idle for five seconds. A request at that moment would fail.
  const agent = new HttpAgent({ keepAlive: true, timeout: 2_000 });
  return () =>
    new Promise((resolve) => {
      const plan = [{ tool: 'append-file', input: { path: `${randomUUID()}.txt`, content: 'one line\n' } }];
      const body = rpcBody('SendMessage', {
        message: {
          messageId: randomUUID(),
          role: 'ROLE_USER',
          parts: [{ text: JSON.stringify({ plan }) }],
          metadata: { [TOOL_APPROVAL_EXTENSION]: { autoExecute: true } },
        },
      });
      const headers = {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'a2a-version': '1.0',
        'a2a-extensions': TOOL_APPROVAL_EXTENSION,
      };
      const sent = request(url, { method: 'POST', agent, headers }, (response) => {
        buffer(response).then(
          (bytes) => resolve(outcomeOf(response.statusCode, bytes.toString())),
          () => resolve('failed'),
        );
      });
      sent.on('error', () => resolve('failed'));
      sent.end(body);
    });
}

function outcomeOf(status: number | undefined, text: string): Outcome {
  if (status === 429 || status === 503) return 'refused';
  return text.includes('TASK_STATE_COMPLETED') ? 'completed' : 'failed';
}
