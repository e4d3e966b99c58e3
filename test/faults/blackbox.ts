/** Tests what an A2A server keeps and what it loses, through A2A only. */
import { z } from 'zod';
import { Refusal } from '../support/rpc-answer.ts';
import { messageOf } from '../../shared/runtime/errors.ts';
import { A2a03Client } from './a2a-03-client.ts';
import { A2A_VERSIONS, A2aClient, Disconnected, type A2aVersion, type Caller } from './a2a-client.ts';
import { TestedServer, type Subject } from './tested-server.ts';
import { lost, SCENARIOS, type Row } from './scenarios.ts';

/** An agent card of A2A 1.0. */
const newCard = z.object({
  supportedInterfaces: z.array(
    z.object({ url: z.string(), protocolBinding: z.string(), protocolVersion: z.string() }),
  ),
});
/** An agent card of A2A 0.3. */
const oldCard = z.object({
  url: z.string(),
  protocolVersion: z.string(),
  preferredTransport: z.string().default('JSONRPC'),
  additionalInterfaces: z.array(z.object({ url: z.string(), transport: z.string() })).default([]),
});
const card = z.union([newCard, oldCard]);

/** @throws if the test cannot run: no card, no JSON-RPC endpoint, or the server refuses messages */
export async function blackbox(subject: Subject): Promise<Report> {
  const { client, version } = await openClient(subject);
  const server = new TestedServer(subject, client);
  await mustWork(server);
  const rows: Row[] = [];
  for (const { scenario, why, run } of SCENARIOS) {
    const outcome = await run(server).catch((error: unknown) =>
      error instanceof Refusal || error instanceof Disconnected || error instanceof z.ZodError
        ? lost(`a valid request failed: ${wordsOf(error)}`)
        : Promise.reject(error),
    );
    rows.push({ scenario, why, ...outcome });
  }
  return { version, rows };
}

export interface Report {
  version: A2aVersion;
  rows: readonly Row[];
}

/**
 * A server that refuses everything, or creates no tasks, would pass half of the scenarios. So it must first complete
 * a task.
 */
async function mustWork(server: TestedServer): Promise<void> {
  const { url, text } = server.subject;
  const task = await server.send(server.message()).catch((error: unknown) => {
    throw new Error(`${url} does not take a message (${wordsOf(error)})`);
  });
  if (task.state !== 'COMPLETED')
    throw new Error(
      `the task ${JSON.stringify(text)} on ${url} is ${task.state}, not COMPLETED: choose another --text`,
    );
}

async function openClient({
  url,
  token,
  version,
}: Subject): Promise<{ client: Caller; version: A2aVersion }> {
  const auth = token === undefined ? {} : { token };
  const offered = interfacesOf(await readCard(url.replace(/\/$/, ''), auth));
  const found = offered.find((each) => version === undefined || each.version === version);
  if (found === undefined)
    throw new Error(`the card of ${url} offers no JSON-RPC of A2A ${version ?? '1.0 or 0.3'}`);
  const client = new A2aClient({ url: found.url.replace(/\/$/, ''), version: found.version, ...auth });
  return { client: found.version === '1.0' ? client : new A2a03Client(client), version: found.version };
}

async function readCard(base: string, auth: { token?: string }): Promise<z.infer<typeof card>> {
  const place = `${base}/.well-known/agent-card.json`;
  const raw = await new A2aClient({ url: base, ...auth })
    .get('/.well-known/agent-card.json')
    .catch((error: unknown) => {
      throw new Error(`there is no agent card at ${place} (${wordsOf(error)})`);
    });
  const read = card.safeParse(raw);
  if (!read.success) throw new Error(`what is at ${place} is no agent card: ${z.prettifyError(read.error)}`);
  return read.data;
}

/** The JSON-RPC endpoints, newest version first. */
function interfacesOf(read: z.infer<typeof card>): { url: string; version: A2aVersion }[] {
  const spoken = 'supportedInterfaces' in read ? newInterfaces(read) : oldInterfaces(read);
  return A2A_VERSIONS.flatMap((version) =>
    spoken
      .filter(({ binding, speaks }) => binding === 'JSONRPC' && speaks.startsWith(version))
      .map(({ url }) => ({ url, version })),
  );
}

interface Interface {
  url: string;
  binding: string;
  speaks: string;
}

const newInterfaces = ({ supportedInterfaces }: z.infer<typeof newCard>): Interface[] =>
  supportedInterfaces.map(({ url, protocolBinding, protocolVersion }) => ({
    url,
    binding: protocolBinding,
    speaks: protocolVersion,
  }));

const oldInterfaces = ({
  url,
  protocolVersion,
  preferredTransport,
  additionalInterfaces,
}: z.infer<typeof oldCard>): Interface[] =>
  [{ url, transport: preferredTransport }, ...additionalInterfaces].map((each) => ({
    url: each.url,
    binding: each.transport,
    speaks: protocolVersion,
  }));

function wordsOf(error: unknown): string {
  const words = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error);
  return words.replaceAll(/\s+/g, ' ').slice(0, 200);
}
