import { Router } from 'express';
import { ProductError } from '../../../shared/runtime/errors.ts';
import {
  type IdentityClaim,
  IDENTITY_PATH,
  NONCE_PATTERN,
  serverProof,
  type ServerRunIdentity,
} from '../../../shared/net/server-proof.ts';

export interface ServerIdentity {
  token: string;
  run: ServerRunIdentity;
}

/**
 * X1: proves to a local client that this server knows the token, before the client sends a credential. The route needs
 * no credential, and its response contains none. A proof is valid for one nonce and one address.
 */
export function serverProofRoute({ token, run }: ServerIdentity, closing: () => boolean): Router {
  const router = Router();
  router.get(IDENTITY_PATH, (request, response) => {
    const { nonce } = request.query;
    if (typeof nonce !== 'string' || !NONCE_PATTERN.test(nonce))
      throw new ProductError('MALFORMED', 'Send ?nonce= with 32 random bytes in base64url.');
    const { localAddress: address = '', localPort: port = 0 } = request.socket;
    const claim: IdentityClaim = {
      pid: run.pid,
      startedAt: run.startedAt,
      status: closing() ? 'closing' : 'ok',
    };
    response.json({ ...claim, proof: serverProof(token, claim, { nonce, address, port }) });
  });
  return router;
}
