import { Router } from 'express';
import { sha256 } from '../../../shared/runtime/sha256.ts';
import { AGENT_CARD_PATH, AgentCard } from '@a2a-js/sdk';
import { legacyAgentCardRouter } from '@a2a-js/sdk/compat/v0_3/server/express';

/** The path of the card in A2A 0.2. Clients of that version know the requests of A2A 0.3, but not the newer path. */
export const OLD_AGENT_CARD_PATH = '.well-known/agent.json';

/** The card changes only when the program or its address changes, so clients may cache it. */
const MAX_AGE_SECONDS = 60;

/**
 * Serves the agent card. This route is one of the few without a token (X1). A request without a version gets the card
 * of A2A 0.3.
 * @param modified the start of the server, in milliseconds since 1970, because the card changes only then
 */
export function agentCardRoute(card: AgentCard, modified: number): Router {
  // The SDK's own handler is not used for A2A 1.0. It sends the SDK's in-memory form of the card, in which clients
  // without this SDK cannot read the security schemes.
  const text = JSON.stringify(AgentCard.toJSON(card));
  const tag = `"${sha256(text).slice(0, 32)}"`;
  const paths = [`/${AGENT_CARD_PATH}`, `/${OLD_AGENT_CARD_PATH}`];
  const lastModified = new Date(modified).toUTCString();
  const router = Router();
  router.use(
    paths,
    (_request, response, next) => {
      response.setHeader('Last-Modified', lastModified);
      next();
    },
    legacyAgentCardRouter({
      // The signatures cover the form of A2A 1.0 only, so the card of A2A 0.3 has none.
      agentCardProvider: () => Promise.resolve({ ...card, signatures: [] }),
      cache: { maxAge: MAX_AGE_SECONDS },
    }),
  );
  router.get(paths, (request, response) => {
    // A2A 1.0 §8.6.1. The cards of A2A 1.0 and 0.3 have the same address, so caches must distinguish them by the
    // header.
    response.setHeader('Cache-Control', `public, max-age=${MAX_AGE_SECONDS}`);
    response.setHeader('ETag', tag);
    response.vary('A2A-Version');
    if (request.fresh) response.status(304).end();
    else response.type('application/json').send(text);
  });
  return router;
}
