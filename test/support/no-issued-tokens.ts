/** The reader of a server whose operator has issued no tokens. */
import type { IssuedTokenReader } from '../../a2a-server/access/issued-token-reader.ts';

export const NO_ISSUED_TOKENS: IssuedTokenReader = {
  find: async () => undefined,
  active: async () => undefined,
  isRevoked: async () => true,
  onRevoked: () => () => undefined,
  close: () => undefined,
};
