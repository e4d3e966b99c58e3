/** Reads server-sent events from the wire, with ids and comments. */
import { z } from 'zod';
import { TOKEN } from './test-server.ts';
import type { TestServer } from './test-server.ts';

export interface Streamed {
  id: string | undefined;
  event: string | undefined;
  /** The name of the field that the StreamResponse has, or the `kind` of a 0.3 event. */
  kind: string | undefined;
  payload: Record<string, unknown>;
  data: string;
}

interface Opening {
  path?: string;
  body?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export function openStream(
  server: TestServer,
  { path = '/', body, headers, signal }: Opening,
): Promise<Response> {
  return fetch(`${server.url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${TOKEN}`,
      'a2a-version': '1.0',
      'content-type': 'application/json',
      ...headers,
    },
    ...(body !== undefined && { body }),
    ...(signal && { signal }),
  });
}

const envelope = z.object({ jsonrpc: z.literal('2.0'), result: z.record(z.string(), z.unknown()) });
const record = z.record(z.string(), z.unknown());

/** Reads all events of a stream until it ends. */
export async function streamOf(response: Response | undefined): Promise<Streamed[]> {
  if (response?.headers.get('content-type') !== 'text/event-stream')
    throw new Error(`not a stream: ${(await response?.text()) ?? 'nothing'}`);
  const frames = (await response.text()).split('\n\n');
  return frames.flatMap((frame): Streamed[] => {
    const fields = new Map(
      frame
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith(':'))
        .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
    );
    const data = fields.get('data');
    if (data === undefined) return [];
    const json: unknown = JSON.parse(data);
    const result = envelope.safeParse(json).data?.result ?? record.parse(json);
    const [kind, payload] =
      typeof result['kind'] === 'string' ? [result['kind'], result] : (Object.entries(result)[0] ?? []);
    return [
      {
        id: fields.get('id'),
        event: fields.get('event'),
        kind,
        payload: record.safeParse(payload).data ?? {},
        data,
      },
    ];
  });
}
