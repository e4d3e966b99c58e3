/** Joins the texts that are not empty. */
export function joinTexts(separator: string, texts: readonly string[]): string {
  return texts.filter((text) => text !== '').join(separator);
}
