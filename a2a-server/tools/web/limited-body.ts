/** Reads a response body. The size limit applies after decompression, so a small body cannot expand to gigabytes. */
import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip } from 'node:zlib';

export interface LimitedBody {
  bytes: Buffer;
  /** True if the body has more than `maxBytes`. The rest is not read. */
  cut: boolean;
}

/** Reads to the end or to the limit, then closes the connection. @throws if the stream breaks */
export async function readLimitedBody(response: IncomingMessage, maxBytes: number): Promise<LimitedBody> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of decompressBody(response)) {
    if (!Buffer.isBuffer(chunk)) throw new TypeError('the stream of a body must give bytes');
    chunks.push(chunk);
    length += chunk.length;
    // When the `return` ends the loop, Node destroys the stream and its connection.
    if (length > maxBytes) return { bytes: Buffer.concat(chunks, maxBytes), cut: true };
  }
  return { bytes: Buffer.concat(chunks), cut: false };
}

function decompressBody(response: IncomingMessage): Readable {
  const encoding = (response.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  switch (encoding) {
    case '':
    case 'identity':
      return response;
    case 'gzip':
    case 'x-gzip':
      return pipeToDecoder(response, createGunzip());
    case 'br':
      return pipeToDecoder(response, createBrotliDecompress());
    default:
      // A body with an unknown encoding is refused. So is a body with several encodings, because they are rare and
      // can hide a decompression bomb.
      response.destroy();
      throw new Error(
        `The server used a compression that the request did not accept (${encoding.slice(0, 100)}).`,
      );
  }
}

/**
 * Returns the decoder. If one stream fails, `pipeline` destroys both, and the loop over the decoder throws the error.
 */
function pipeToDecoder<Decoder extends NodeJS.ReadWriteStream & Readable>(
  response: IncomingMessage,
  decoder: Decoder,
): Decoder {
  pipeline(response, decoder, () => undefined);
  return decoder;
}
