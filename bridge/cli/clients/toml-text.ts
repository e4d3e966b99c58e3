/** Changes one table in TOML text, and nothing else. Pure. */
import { parse, patch, stringify } from '@decimalturn/toml-patch';
import { stringify as stable } from 'safe-stable-stringify';
import { z } from 'zod';
import { errorMessageOf } from '../../../shared/runtime/errors.ts';
import type { ConfigFormat, ServerEntry } from './config-format.ts';

type Table = Record<string, unknown>;
const table = z.record(z.string(), z.unknown());

export const tomlFormat: ConfigFormat = {
  read(text, keys) {
    let at: unknown = tableOf(text);
    for (const [depth, key] of keys.entries()) {
      const here = table.safeParse(at);
      if (!here.success) throw new Error(`"${keys.slice(0, depth).join('.')}" is not a table`);
      if (!Object.hasOwn(here.data, key)) return undefined;
      at = here.data[key];
    }
    return at;
  },
  put(text, keys, entry) {
    const wanted = setEntryInTable(tableOf(text), keys, entry);
    return (
      withNewTable(text, { keys, entry }, wanted) ??
      patch(text, wanted, { inlineTableStart: keys.length + 1 })
    );
  },
  remove: (text, keys) => patch(text, setEntryInTable(tableOf(text), keys, undefined)),
};

/** Parses the text. @throws Error with the position of the syntax error */
function tableOf(text: string): Table {
  try {
    return table.parse(parse(text));
  } catch (error) {
    throw new Error(`it is not TOML (${errorMessageOf(error).split('\n')[0] ?? ''})`, { cause: error });
  }
}

/** Sets or removes an entry. Also removes the tables around the entry that would be empty. */
function setEntryInTable(
  from: Table,
  [key = '', ...rest]: readonly string[],
  value: ServerEntry | undefined,
): Table {
  const { [key]: before, ...others } = from;
  const after = rest.length === 0 ? value : setEntryInTable(table.safeParse(before).data ?? {}, rest, value);
  return after === undefined || (value === undefined && Object.keys(after).length === 0)
    ? others
    : { ...from, [key]: after };
}

/** Appends the entry to the text as a new table. Returns undefined if the text then has other content than `wanted`. */
function withNewTable(
  text: string,
  { keys, entry }: { keys: readonly string[]; entry: ServerEntry },
  wanted: Table,
): string | undefined {
  const gap = text.trim() === '' ? '' : `${text.endsWith('\n') ? '' : '\n'}\n`;
  const added = `${gap}[${keys.join('.')}]\n${stringify(entry).trimEnd()}\n`;
  const after = `${text.trim() === '' ? '' : text}${text.includes('\r\n') ? added.replaceAll('\n', '\r\n') : added}`;
  try {
    return stable(parse(after)) === stable(wanted) ? after : undefined;
  } catch {
    return undefined; // The table already exists, or its parent is an inline table.
  }
}
