/**
 * Encodes a row of the index as an opaque token. The page of this token begins after the row. The token contains the
 * row's update time and key.
 */
import { z } from 'zod';
import { ProductError } from '../../shared/runtime/errors.ts';
import { parseJson } from '../../shared/text/parse-json.ts';

interface PagePosition {
  updatedAt: number;
  key: number;
}

const position = z.tuple([z.number().int(), z.number().int()]);

export function encodePageToken({ updatedAt, key }: PagePosition): string {
  return Buffer.from(JSON.stringify([updatedAt, key])).toString('base64url');
}

/** Decodes a page token. @throws ProductError MALFORMED for a token that `encodePageToken` did not create */
export function decodePageToken(token: string): PagePosition {
  const parsed = position.safeParse(parseJson(Buffer.from(token, 'base64url').toString()));
  const found = parsed.success ? { updatedAt: parsed.data[0], key: parsed.data[1] } : undefined;
  // Base64 decoding ignores unknown characters, so the token must equal the encoding of its own content.
  if (found === undefined || encodePageToken(found) !== token) {
    throw new ProductError('MALFORMED', 'This page token is not valid here. List again from the first page.');
  }
  return found;
}
