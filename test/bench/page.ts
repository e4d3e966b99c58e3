/**
 * Writes figures into a Markdown page. The page marks the place of each benchmark with a pair of comments,
 * `<!-- bench:stream -->` and `<!-- /bench:stream -->`. The text between them is replaced. Pure.
 */
import type { Run } from './benchmark.ts';
import { markdownTable } from './report.ts';

/** @returns the page with the figures of the run. @throws Error if the page has no place for a benchmark of the run */
export function withFigures(page: string, { commit, on, sections }: Run): string {
  const measured = `${commit === undefined ? '' : `Commit ${commit}. `}${on}.`;
  let result = page;
  for (const { id, figures } of sections) {
    const [begin, end] = [`<!-- bench:${id} -->`, `<!-- /bench:${id} -->`];
    const [from, to] = [result.indexOf(begin), result.indexOf(end)];
    if (from === -1 || to < from)
      throw new Error(`The page has no place for the figures of ${id}: add ${begin} and ${end}.`);
    const block = `${begin}\n\n${markdownTable(figures)}\n\n${measured}\n\n`;
    result = result.slice(0, from) + block + result.slice(to);
  }
  return result;
}
