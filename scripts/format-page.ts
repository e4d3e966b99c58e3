/** Formats a generated Markdown page as `npm run format` does. */
import { readFile } from 'node:fs/promises';
import { format, type FormatConfig } from 'oxfmt';

/** @param path the path of the page. Messages name it. */
export async function formatPage(path: string, text: string): Promise<string> {
  const config: FormatConfig = JSON.parse(await readFile('.oxfmtrc.json', 'utf8'));
  const { code, errors } = await format(path, text, config);
  const [problem] = errors;
  if (problem !== undefined) throw new Error(`${path}: ${problem.message}`);
  return code;
}
