/** Where a page of the index ends: the update time and the key of its last row, as an opaque token. */
import { z } from 'zod';
import { ProductError } from '../../shared/errors.ts';

export interface PagePosition {
  updatedAt: number;
  key: number;
}

const position = z.tuple([z.number().int(), z.number().int()]);

export function encodePageToken({ updatedAt, key }: PagePosition): string {
  return Buffer.from(JSON.stringify([updatedAt, key])).toString('base64url');
}

/** @throws ProductError MALFORMED for a token that `encodePageToken` did not make. */
export function decodePageToken(token: string): PagePosition {
  const parsed = position.safeParse(parse(Buffer.from(token, 'base64url').toString()));
  const found = parsed.success ? { updatedAt: parsed.data[0], key: parsed.data[1] } : undefined;
  // The way back must give the same token: base64 decoding skips what it does not know.
  if (found === undefined || encodePageToken(found) !== token) {
    throw new ProductError(
      'MALFORMED',
      'This page token is not one of this server: list again from the first page.',
    );
  }
  return found;
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
