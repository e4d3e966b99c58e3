/** Explains how to set the price of a model. @param model the model id */
export function priceAdvice(model: string): string {
  const section = { server: { prices: { [model]: { input: 3, output: 15 } } } };
  return `Add its price in US dollars per million tokens to the configuration file, e.g. ${JSON.stringify(section)}. A free model has the price 0.`;
}
