/**
 * Formats a tool call without a diff, a command or a URL as plain lines. All programs that show such a call to a person use
 * this module. Pure.
 */
import * as z from 'zod/mini';
import { byteCountText, countWithNoun } from '../text/one-line.ts';
import type { Preview, ToolSource } from './tool-approval.ts';

interface ShownCall {
  tool: string;
  /** Absent if it is unknown. */
  source?: Pick<ToolSource, 'type'> | undefined;
  preview: Preview;
}

/** The preview of `move-file`. */
const moveSchema = z.strictObject({ moves: z.string(), to: z.string(), bytes: z.number() });
/** The preview of `delete-file`. Each line of `deletes` has the path and the size of one item. */
const deletionSchema = z.strictObject({
  count: z.number(),
  bytes: z.number(),
  deletes: z.array(z.string()),
});

/**
 * Returns the lines of a call: a sentence for tools whose effect is known, otherwise one `name: value` line for each
 * field. Returns undefined if the lines cannot show the call exactly: a field has a nested value or an unusual name, or
 * there is no field. Also returns undefined for a preview that is not JSON.
 *
 * The text is untrusted, so the caller escapes it.
 */
export function callText({ tool, source, preview }: ShownCall): string | undefined {
  if (preview.type !== 'json') return undefined;
  const { value } = preview;
  const effect = source?.type === 'built-in' ? EFFECTS[tool]?.(value) : undefined;
  return effect ?? fieldLines(value);
}

const EFFECTS: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  'move-file': (value) => {
    const { data } = moveSchema.safeParse(value);
    return (
      data &&
      `Move ${pathInSentence(data.moves)} to ${pathInSentence(data.to)} (${byteCountText(data.bytes)})`
    );
  },
  'delete-file': (value) => {
    const { data } = deletionSchema.safeParse(value);
    if (data === undefined) return undefined;
    const { count, bytes, deletes } = data;
    return deletes.length === 1
      ? `Delete ${deletes.join('')}`
      : [`Delete ${countWithNoun(count, 'item')} (${byteCountText(bytes)}):`, ...deletes].join('\n');
  },
};

/** Returns the path, in quotes if it could be read as other words of the sentence. */
function pathInSentence(path: string): string {
  return /[\s"()]/.test(path) ? JSON.stringify(path) : path;
}

/** A name that cannot be read as a part of a value. */
const PLAIN_NAME = /^[\p{L}\p{N}_$][\p{L}\p{N}_$.-]*$/u;

function fieldLines(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const fields = Object.entries(value).map(([name, each]) => {
    const text = fieldText(each);
    return text === undefined || !PLAIN_NAME.test(name) ? undefined : `${name}:${text}`;
  });
  return fields.length === 0 || fields.includes(undefined) ? undefined : fields.join('\n');
}

/** The indent of a value with several lines. The name of a field is never indented. */
const INDENT = '    ';
/**
 * Matches a text that could be read as another kind of value, and a text whose ends are invisible. In a narrow window, a
 * text wraps. So this also matches a text whose end could look like another field on a row of its own.
 */
const NEEDS_QUOTES = /^$|^\s|\s$|\s\s|:\s|^["[]|^(?:true|false|null|-?\d[\d.eE+-]*)$/;

function fieldText(value: unknown): string | undefined {
  if (typeof value !== 'string') return isFlat(value) ? ` ${JSON.stringify(value)}` : undefined;
  if (value.includes('\n'))
    return `\n${value
      .split('\n')
      .map((line) => INDENT + line)
      .join('\n')}`;
  return ` ${NEEDS_QUOTES.test(value) ? JSON.stringify(value) : value}`;
}

/** Returns true for a value without fields, and for a list of such values. */
function isFlat(value: unknown): boolean {
  return Array.isArray(value)
    ? value.every((each) => typeof each !== 'object' || each === null)
    : typeof value !== 'object' || value === null;
}
