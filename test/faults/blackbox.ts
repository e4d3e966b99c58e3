/** What any A2A 1.0 server keeps, and what it loses, seen through A2A alone. */
import { z } from 'zod';
import { Refusal } from '../support/rpc-answer.ts';
import { A2aClient, Disconnected } from './a2a-client.ts';
import { Asked, type Subject } from './asked.ts';
import { lost, SCENARIOS, type Row } from './scenarios.ts';

const card = z.looseObject({
  supportedInterfaces: z.array(
    z.looseObject({ url: z.string(), protocolBinding: z.string(), protocolVersion: z.string() }),
  ),
});

/** @throws when the server cannot be asked at all: no card, no JSON-RPC of version 1.0, no message taken. */
export async function blackbox(subject: Subject): Promise<Row[]> {
  const asked = new Asked(subject, await openClient(subject));
  // A server that refuses everything would hold half of what follows.
  await asked.send(asked.message());
  const rows: Row[] = [];
  for (const [scenario, run] of SCENARIOS) {
    const outcome = await run(asked).catch((error: unknown) =>
      error instanceof Refusal || error instanceof Disconnected || error instanceof z.ZodError
        ? lost(`${error.name}: ${error.message.slice(0, 200)}`)
        : Promise.reject(error),
    );
    rows.push({ scenario, ...outcome });
  }
  return rows;
}

async function openClient({ url, token }: Subject): Promise<A2aClient> {
  const base = url.replace(/\/$/, '');
  const auth = token === undefined ? {} : { token };
  const front = new A2aClient({ url: base, ...auth });
  const { supportedInterfaces } = card.parse(await front.get('/.well-known/agent-card.json'));
  const rpc = supportedInterfaces.find(
    (each) => each.protocolBinding === 'JSONRPC' && each.protocolVersion === '1.0',
  );
  if (rpc === undefined) throw new Error(`${url} offers no JSON-RPC of A2A 1.0`);
  return new A2aClient({ url: rpc.url.replace(/\/$/, ''), ...auth });
}
