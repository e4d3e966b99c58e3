/** A passkey in software: an authenticator with one ES256 key (WebAuthn Level 3 §6). The tests choose what it claims. */
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import type { PresenceAssertion } from '../../shared/protocol/presence-assertion.ts';

const UP = 0x01;
const UV = 0x04;
const ATTESTED = 0x40;

interface Claims {
  origin: string;
  rpId: string;
  /** True if the person touched the authenticator. */
  present?: boolean;
  /** True if the authenticator verified the person. */
  verified?: boolean;
  count?: number;
  type?: string;
  crossOrigin?: boolean;
}

export class SoftwarePasskey {
  readonly id = randomBytes(16).toString('base64url');
  readonly #keys: { publicKey: KeyObject; privateKey: KeyObject } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
  });

  /** The COSE public key in base64url. */
  get publicKey(): string {
    return this.#coseKey().toString('base64url');
  }

  /** Returns a `RegistrationResponseJSON` without attestation. */
  register(challenge: string, claims: Claims): object {
    const id = Buffer.from(this.id, 'base64url');
    const length = Buffer.alloc(2);
    length.writeUInt16BE(id.length);
    const attested = Buffer.concat([Buffer.alloc(16), length, id, this.#coseKey()]);
    const authData = Buffer.concat([authenticatorData(claims, ATTESTED), attested]);
    const attestation = cborMap([
      [cborText('fmt'), cborText('none')],
      [cborText('attStmt'), cborMap([])],
      [cborText('authData'), cborBytes(authData)],
    ]);
    return {
      id: this.id,
      rawId: this.id,
      type: 'public-key',
      clientExtensionResults: {},
      response: {
        clientDataJSON: clientData(challenge, { type: 'webauthn.create', ...claims }).toString('base64url'),
        attestationObject: attestation.toString('base64url'),
        transports: ['internal'],
      },
    };
  }

  assert(challenge: string, claims: Claims): PresenceAssertion {
    const data = authenticatorData(claims, 0);
    const client = clientData(challenge, { type: 'webauthn.get', ...claims });
    const hash = createHash('sha256').update(client).digest();
    return {
      id: this.id,
      authenticatorData: data.toString('base64url'),
      clientDataJSON: client.toString('base64url'),
      signature: sign('sha256', Buffer.concat([data, hash]), this.#keys.privateKey).toString('base64url'),
    };
  }

  #coseKey(): Buffer {
    const jwk = z
      .object({ x: z.string(), y: z.string() })
      .parse(this.#keys.publicKey.export({ format: 'jwk' }));
    return cborMap([
      [cborInteger(1), cborInteger(2)],
      [cborInteger(3), cborInteger(-7)],
      [cborInteger(-1), cborInteger(1)],
      [cborInteger(-2), cborBytes(Buffer.from(jwk.x, 'base64url'))],
      [cborInteger(-3), cborBytes(Buffer.from(jwk.y, 'base64url'))],
    ]);
  }
}

function clientData(challenge: string, { type, origin, crossOrigin = false }: Claims): Buffer {
  return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin }));
}

function authenticatorData(
  { rpId, present = true, verified = true, count = 0 }: Claims,
  more: number,
): Buffer {
  const rest = Buffer.alloc(5);
  rest.writeUInt8((present ? UP : 0) | (verified ? UV : 0) | more);
  rest.writeUInt32BE(count, 1);
  return Buffer.concat([createHash('sha256').update(rpId).digest(), rest]);
}

/** RFC 8949 §3: the major type, and a length or value below 2^16. */
function cborHead(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value]);
  if (value < 256) return Buffer.from([(major << 5) | 24, value]);
  return Buffer.from([(major << 5) | 25, value >> 8, value & 0xff]);
}

const cborInteger = (value: number): Buffer => (value >= 0 ? cborHead(0, value) : cborHead(1, -1 - value));
const cborBytes = (bytes: Buffer): Buffer => Buffer.concat([cborHead(2, bytes.length), bytes]);
const cborText = (text: string): Buffer => Buffer.concat([cborHead(3, text.length), Buffer.from(text)]);
const cborMap = (entries: readonly (readonly [Buffer, Buffer])[]): Buffer =>
  Buffer.concat([cborHead(5, entries.length), ...entries.flat()]);
