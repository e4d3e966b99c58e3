import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import { countWithNoun, oneLineExcerpt } from '../../../shared/text/one-line.ts';
import { fileMediaTypeOf, maxFileBytes, type FileMediaType } from '../../../shared/protocol/attached-file.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { filePlaceholderLine } from '../../task/stored-file.ts';
import type { Tool, ToolResult } from '../tool.ts';
import { nothingAtError } from '../workspace/file-failure.ts';
import { decodeFileText, type FileContent } from '../workspace/text-file.ts';

const MAX_LINES = 2000;
/**
 * The maximum length of the returned text. The text ends after a whole line, unless the first line alone is longer than
 * this limit.
 */
const MAX_CHARACTERS = 50_000;

const schema = z.strictObject({
  path: z.string().min(1).describe('File, relative to the workspace.'),
  offset: z.int().min(1).default(1).describe('First line to read, counted from 1.'),
  limit: z.int().min(1).max(MAX_LINES).default(MAX_LINES).describe('The maximum number of lines.'),
});

export const readFileTool: Tool = defineTool({
  name: 'read-file',
  description:
    'Reads a UTF-8 text file of the workspace, exactly as it is. If there are more lines, a note in square brackets at the end says so. Also shows an image (PNG, JPEG, GIF, WebP) or a PDF.',
  sideEffect: 'none',
  schema,
  timeoutMs: () => 30_000,
  title: ({ path }) => `Read ${oneLineExcerpt(path)}`,
  reach: ({ path }) => ({ paths: [path] }),
  show: async (input, { workspace }) => {
    await workspace.locate(input.path);
    return { preview: { type: 'json', value: input }, basis: null };
  },
  run: async ({ path, offset, limit }, { workspace }) => {
    const file = await workspace.bytes(path);
    if (file === undefined) throw nothingAtError(path);
    const type = fileMediaTypeOf(file.bytes);
    if (type !== undefined) return fileResult(type, file);
    const content = decodeFileText(file);
    if (content === '') return { text: `[${file.path} is empty.]`, summary: `read ${file.path} (empty)` };
    const { lines, count } = linesFrom(content, offset, limit);
    if (offset > count) {
      throw new Error(`"${path}" has ${countWithNoun(count, 'line')}; offset ${offset} is beyond its end.`);
    }
    const page = pageOf(lines, offset, count);
    return {
      text: page.text + (page.note === '' ? '' : `${page.text.endsWith('\n') ? '' : '\n'}[${page.note}]`),
      summary: `read ${file.path} (${countWithNoun(page.lines, 'line')} of ${count})`,
    };
  },
});

/**
 * Returns the file as a result for the model.
 * @throws ProductError TOO_LARGE if no model accepts a file of this size
 */
function fileResult(mediaType: FileMediaType, { path, bytes }: FileContent): ToolResult {
  const most = maxFileBytes(mediaType);
  if (bytes.length > most)
    throw new ProductError(
      'TOO_LARGE',
      `"${path}" (${mediaType}) has ${bytes.length} bytes; models take at most ${most}. Make it smaller with a shell command.`,
    );
  const name = path.split('/').at(-1) ?? path;
  return {
    text: filePlaceholderLine({ name: path, mediaType, bytes: bytes.length }),
    summary: `read ${path} (${mediaType}, ${bytes.length} bytes)`,
    files: [{ bytes, mediaType, name }],
  };
}

const LINE_FEED = 10;

/**
 * Returns the lines of a page, and the number of all lines. Each line keeps its line break. X3: the function creates
 * strings only for the lines of the page. Strings for millions of lines would block other requests for seconds.
 */
function linesFrom(content: string, offset: number, limit: number): { lines: string[]; count: number } {
  const lines: string[] = [];
  let count = 0;
  let start = 0;
  for (let at = 0; at < content.length; at += 1) {
    const isLast = at === content.length - 1;
    if (content.charCodeAt(at) !== LINE_FEED && !isLast) continue;
    count += 1;
    if (count >= offset && lines.length < limit) lines.push(content.slice(start, at + 1));
    start = at + 1;
  }
  return { lines, count };
}

/** @param count the number of all lines of the file */
function pageOf(
  lines: readonly string[],
  offset: number,
  count: number,
): { text: string; lines: number; note: string } {
  const [first = ''] = lines;
  if (first.length > MAX_CHARACTERS) {
    const note = `Line ${offset} is cut: it has ${first.length} characters; there are ${countWithNoun(count, 'line')}`;
    return { text: first.slice(0, MAX_CHARACTERS), lines: 1, note };
  }
  let text = '';
  let next = offset;
  for (const line of lines) {
    if (text.length + line.length > MAX_CHARACTERS) break;
    text += line;
    next += 1;
  }
  const note = next > count ? '' : `Lines ${offset} to ${next - 1} of ${count}; go on with offset ${next}`;
  return { text, lines: next - offset, note };
}
