/** An amount in US dollars: two decimals, or four below one dollar. Pure. */
export function dollars(usd: number): string {
  return `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
}
