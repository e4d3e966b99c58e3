/** The operator demands a signed card, and none of the trusted keys has signed this one. */
export class UntrustedCard extends Error {
  override readonly name = 'UntrustedCard';

  constructor() {
    super('its agent card is not signed by a trusted key');
  }
}
