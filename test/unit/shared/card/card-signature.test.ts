import { describe, expect, test } from '@jest/globals';
import { AgentCard } from '@a2a-js/sdk';
import { FlattenedSign } from 'jose';
import { createPublicKey, createSecretKey, generateKeyPairSync } from 'node:crypto';
import { agentCard } from '../../../../a2a-server/http/routes/agent-card.ts';
import { cardSigningAlgorithm, signCard, findVerifiedCard } from '../../../../shared/card/card-signature.ts';

const ed25519 = generateKeyPairSync('ed25519');
const other = generateKeyPairSync('ed25519');
const card = agentCard('https://agent.example.com', '1.0.0');

/** The card as a client receives it. */
async function sent(key = ed25519.privateKey): Promise<Record<string, unknown>> {
  const json: unknown = JSON.parse(JSON.stringify(AgentCard.toJSON(await signCard(card, key))));
  return { ...Object(json) };
}

describe('the signature of an agent card', () => {
  test.each([
    ['EdDSA', ed25519],
    ['ES256', generateKeyPairSync('ec', { namedCurve: 'prime256v1' })],
    ['PS256', generateKeyPairSync('rsa', { modulusLength: 2048 })],
  ])(
    'a card that is signed with %s is verified with the public key',
    async (alg, { privateKey, publicKey }) => {
      expect(cardSigningAlgorithm(publicKey)).toBe(alg);
      const verified = await findVerifiedCard(await sent(privateKey), [other.publicKey, publicKey]);
      expect(verified).toMatchObject({ name: card.name, supportedInterfaces: card.supportedInterfaces });
      expect(await findVerifiedCard(await sent(privateKey), [other.publicKey])).toBeUndefined();
    },
  );

  test('a key for other purposes signs no card', async () => {
    const keys = [
      createSecretKey(Buffer.alloc(32)),
      generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey,
      generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey,
    ];
    for (const key of keys) {
      expect(cardSigningAlgorithm(key)).toBeUndefined();
      await expect(signCard(card, key)).rejects.toThrow('cannot sign');
    }
  });

  test.each([
    ['without a signature', { signatures: [] }],
    ['with another interface', { supportedInterfaces: [{ url: 'https://evil.example.com' }] }],
    [
      'with another security scheme',
      { securitySchemes: { none: { httpAuthSecurityScheme: { scheme: 'basic' } } } },
    ],
    ['with another name', { name: 'another' }],
    ['with signatures that are no list', { signatures: 'all' }],
    ['with a signature that is no JWS', { signatures: [{ protected: '{}', signature: '?' }, null] }],
    [
      'with more signatures than anybody needs',
      { signatures: Array.from({ length: 50_000 }, () => ({ protected: '', signature: '' })) },
    ],
  ])('a card %s is not trusted', async (_what, change) => {
    expect(await findVerifiedCard({ ...(await sent()), ...change }, [ed25519.publicKey])).toBeUndefined();
  });

  test.each([null, 7, 'card', []])('%j is no trusted card', async (received) => {
    expect(await findVerifiedCard(received, [ed25519.publicKey])).toBeUndefined();
  });

  test('a signer cannot choose the algorithm: neither none, nor an HMAC with the public key as its secret', async () => {
    const signatures = (await signCard(card, ed25519.privateKey)).signatures;
    const none = Buffer.from('{"alg":"none","typ":"JOSE","kid":"a"}').toString('base64url');
    const secret = Buffer.from(ed25519.publicKey.export({ format: 'pem', type: 'spki' }));
    const hmac = await new FlattenedSign(Buffer.from('a card'))
      .setProtectedHeader({ alg: 'HS256', kid: 'a' })
      .sign(secret);
    for (const forged of [
      { protected: none, signature: '' },
      { protected: none, signature: signatures[0]?.signature },
      { protected: hmac.protected, signature: hmac.signature },
    ])
      expect(
        await findVerifiedCard({ ...(await sent()), signatures: [forged] }, [ed25519.publicKey]),
      ).toBeUndefined();
  });

  test('fields that no signature covers are not in the verified card', async () => {
    const received = { ...(await sent()), url: 'https://evil.example.com', preferredTransport: 'JSONRPC' };
    const verified = await findVerifiedCard(received, [createPublicKey(ed25519.privateKey)]);
    expect(JSON.stringify(verified)).not.toContain('evil');
    expect(verified?.name).toBe(card.name);
  });
});
