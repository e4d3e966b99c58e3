/** Thrown if the operator demands a signed agent card, but no trusted key has signed this card. */
export class UntrustedCard extends Error {
  override readonly name = 'UntrustedCard';

  constructor() {
    super('its agent card is not signed by a trusted key');
  }
}
