/** Says how to set the price of a model. */

/** @param model the model id. The numbers are an example: a free local model. */
export function priceAdvice(model: string): string {
  const section = { server: { prices: { [model]: { input: 0, output: 0 } } } };
  return `Add its price in US dollars per million tokens to the configuration file: ${JSON.stringify(section)} (0 for a free model).`;
}
