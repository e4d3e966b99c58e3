/** An answer's body: decompressed, and bounded after that, so that a small one that unpacks to gigabytes stays small. */
import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';

export interface Body {
  bytes: Buffer;
  /** Whether there was more than `maxBytes`; the rest was not read. */
  cut: boolean;
}

/** Reads to the end or to the limit, whichever comes first; the connection is closed either way. @throws when it breaks. */
export async function readBody(response: IncomingMessage, maxBytes: number): Promise<Body> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of decompressed(response)) {
    if (!Buffer.isBuffer(chunk)) throw new TypeError('a body comes as bytes');
    chunks.push(chunk);
    length += chunk.length;
    // Leaving the loop destroys the stream, and the connection with it.
    if (length > maxBytes) return { bytes: Buffer.concat(chunks, maxBytes), cut: true };
  }
  return { bytes: Buffer.concat(chunks), cut: false };
}

function decompressed(response: IncomingMessage): Readable {
  const encoding = (response.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  switch (encoding) {
    case '':
    case 'identity':
      return response;
    case 'gzip':
    case 'x-gzip':
      return unpacked(response, createGunzip());
    case 'br':
      return unpacked(response, createBrotliDecompress());
    default:
      // Also two of them in a row, which nobody needs and a bomb likes.
      response.destroy();
      throw new Error(`The body is compressed in a way that was not asked for (${encoding.slice(0, 100)}).`);
  }
}

/** What befalls either stream ends both; the loop over the second one sees the error. */
function unpacked<Decoder extends NodeJS.ReadWriteStream & Readable>(
  response: IncomingMessage,
  decoder: Decoder,
): Decoder {
  pipeline(response, decoder, () => undefined);
  return decoder;
}
