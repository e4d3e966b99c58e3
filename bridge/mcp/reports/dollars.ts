/** An amount of money in words: small ones to the hundredth of a cent. Pure. */
export function dollars(usd: number): string {
  return `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
}
