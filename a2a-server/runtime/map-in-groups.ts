/**
 * Maps items, at most `atOnce` at the same time. The results have the order of the items.
 * @throws the first error of `map`
 */
export async function mapInGroups<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += atOnce)
    results.push(...(await Promise.all(items.slice(from, from + atOnce).map(map))));
  return results;
}
