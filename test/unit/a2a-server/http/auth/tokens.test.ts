import { describe, expect, test } from '@jest/globals';
import { createAuthenticator } from '../../../../../a2a-server/http/auth/tokens.ts';

const authenticate = createAuthenticator([
  { principal: 'ann', token: 'a'.repeat(32) },
  { principal: 'bob', token: `${'b'.repeat(20)}==` },
]);

describe('bearer tokens', () => {
  test('X1 each token identifies its principal, and the case of the scheme does not matter', async () => {
    expect(await authenticate(`Bearer ${'a'.repeat(32)}`)).toEqual({ principal: 'ann' });
    expect(await authenticate(`bearer  ${'b'.repeat(20)}== `)).toEqual({ principal: 'bob' });
  });

  test.each([
    undefined,
    '',
    'Bearer',
    'Bearer ',
    `Basic ${'a'.repeat(32)}`,
    'a'.repeat(32),
    `Bearer ${'a'.repeat(31)}`,
    `Bearer ${'a'.repeat(33)}`,
    `Bearer ${'A'.repeat(32)}`,
    `Bearer ${'a'.repeat(32)}, Bearer x`,
    `Bearer ${'a'.repeat(16)} ${'a'.repeat(16)}`,
  ])('X1 %p identifies no principal', async (header) => {
    await expect(authenticate(header)).rejects.toThrow(/bearer token/i);
  });

  test('X1 without configured tokens, every request is refused', async () => {
    await expect(createAuthenticator([])(`Bearer ${'a'.repeat(32)}`)).rejects.toThrow(
      'does not know the bearer token',
    );
  });
});
