/** Tests the reasoning of a model on the wire: only a client that activates the extension gets it. */
import { expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { THINKING_EXTENSION } from '../../../shared/protocol/extensions.ts';
import { writtenMessage } from '../../support/a2a-message.ts';
import { modelEndpoint, serverWithModel } from '../../support/model-stage.ts';
import { rpcBody } from '../../support/rpc-answer.ts';
import type { ServerProcess } from '../../support/server-process.ts';
import { stage } from '../../support/stage.ts';

const recordings = new URL('../../recordings/openai-compatible/', import.meta.url);

const update = z.object({
  statusUpdate: z
    .object({
      metadata: z.record(z.string(), z.unknown()).optional(),
      status: z.object({
        message: z.object({ parts: z.array(z.object({ text: z.string().optional() })) }).optional(),
      }),
    })
    .optional(),
});

/** Sends a message over JSON-RPC and returns the whole stream. */
async function streamOf({ url, token }: ServerProcess, extensions: Record<string, string>): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
      'A2A-Version': '1.0',
      ...extensions,
    },
    body: rpcBody('SendStreamingMessage', { message: writtenMessage('Compare a.md and b.md') }),
  });
  expect(response.status).toBe(200);
  return response.text();
}

/** Returns the text of the status updates with the mark, by turn. */
function thoughtsIn(stream: string): Record<string, string> {
  const thoughts: Record<string, string> = {};
  for (const line of stream.split('\n').filter((each) => each.startsWith('data:'))) {
    const { result } = z.object({ result: update }).parse(JSON.parse(line.slice('data:'.length)));
    const mark = result.statusUpdate?.metadata?.[THINKING_EXTENSION];
    if (mark === undefined) continue;
    const { turn } = z.object({ turn: z.number() }).parse(mark);
    const text = result.statusUpdate?.status.message?.parts.map((part) => part.text ?? '').join('') ?? '';
    thoughts[turn] = `${thoughts[turn] ?? ''}${text}`;
  }
  return thoughts;
}

it('a client that activates the thinking extension gets the reasoning of each turn, with a mark; another client gets none', async () => {
  const endpoint = await modelEndpoint();
  const { server } = await stage(serverWithModel(endpoint));
  const recorded = await Promise.all(
    ['thinking-and-parallel-calls', 'text'].map((name) =>
      readFile(new URL(`${name}.sse`, recordings), 'utf8'),
    ),
  );
  const replay = (): void => endpoint.script(...recorded.map((body) => ({ type: 'raw' as const, body })));

  replay();
  const active = await streamOf(server, { 'A2A-Extensions': THINKING_EXTENSION });
  expect(thoughtsIn(active)).toEqual({ 1: 'I need both files.' });
  expect(active).toContain('Done.');

  replay();
  const plain = await streamOf(server, {});
  expect(thoughtsIn(plain)).toEqual({});
  expect(plain).not.toContain('I need');
  expect(plain).toContain('Done.');
});
