import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decodePageToken, encodePageToken } from '../../../../a2a-server/journal/page-token.ts';
import { anyCharacter } from '../../../support/any-character.ts';

describe('a page token', () => {
  it('a page token decodes to its position', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.maxSafeNat(), (updatedAt, key) => {
        expect(decodePageToken(encodePageToken({ updatedAt, key }))).toEqual({ updatedAt, key });
      }),
    );
  });

  it('a page token that the server did not create gives MALFORMED', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: anyCharacter }),
          fc.base64String(),
          fc.json().map((json) => Buffer.from(json).toString('base64url')),
        ),
        (token) => {
          expect(() => decodePageToken(token)).toThrow(expect.objectContaining({ reason: 'MALFORMED' }));
        },
      ),
    );
  });
});
