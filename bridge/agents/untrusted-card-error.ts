/** Thrown if the operator demands a signed agent card, but no trusted key has signed this card. */
export class UntrustedCardError extends Error {
  override readonly name = 'UntrustedCardError';

  constructor() {
    super('its agent card is not signed by a trusted key');
  }
}
