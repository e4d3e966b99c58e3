import { expect, it } from '@jest/globals';
import {
  SIGN_IN_ATTEMPT_MS,
  createSignInAttempt,
  findSignInAttempt,
} from '../../../../a2a-server/page/provider-sign-in-attempt.ts';

const SECRET = 'the secret of the server';
const NOW = 1_000_000;

it('an attempt is found with its cookie and its page secret until it ends', () => {
  const attempt = createSignInAttempt(SECRET, NOW);
  expect(findSignInAttempt(SECRET, attempt, NOW + SIGN_IN_ATTEMPT_MS - 1)).toEqual(attempt);
  expect(findSignInAttempt(SECRET, attempt, NOW + SIGN_IN_ATTEMPT_MS)).toBeUndefined();
});

it('each attempt has other values, and none of them tells another one', () => {
  const attempts = [createSignInAttempt(SECRET, NOW), createSignInAttempt(SECRET, NOW)];
  const values = attempts.flatMap(({ cookie, state, nonce, verifier, pageSecret }) => [
    cookie,
    state,
    nonce,
    verifier,
    pageSecret,
  ]);
  expect(new Set(values).size).toBe(10);
  // RFC 7636 §4.1: a code verifier has 43 to 128 of these characters.
  for (const { verifier } of attempts) expect(verifier).toMatch(/^[A-Za-z0-9._~-]{43,128}$/);
});

it('X1 another page secret, another cookie or another secret of the server gives no attempt', () => {
  const [attempt, other] = [createSignInAttempt(SECRET, NOW), createSignInAttempt(SECRET, NOW)];
  const { cookie, pageSecret } = attempt;
  for (const browser of [
    { cookie: undefined, pageSecret },
    { cookie: '', pageSecret },
    { cookie: other.cookie, pageSecret },
    { cookie, pageSecret: other.pageSecret },
    { cookie, pageSecret: '' },
    { cookie: `${cookie} `, pageSecret },
    // A later end would be a cookie of another attempt.
    { cookie: cookie.replace(/^\d+/, (end) => String(Number(end) + 1)), pageSecret },
  ])
    expect(findSignInAttempt(SECRET, browser, NOW + 1)).toBeUndefined();
  expect(findSignInAttempt('another secret', attempt, NOW)).toBeUndefined();
});

it('a server whose clock is behind accepts the attempt of another server with the same secret', () => {
  const attempt = createSignInAttempt(SECRET, NOW + 2_000);
  expect(findSignInAttempt(SECRET, attempt, NOW)).toEqual(attempt);
});
