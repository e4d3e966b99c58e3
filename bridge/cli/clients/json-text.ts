/** Changes one value in JSON text, with or without comments, and nothing else. Pure. */
import { isDeepStrictEqual } from 'node:util';
import {
  applyEdits,
  findNodeAtLocation,
  type FormattingOptions,
  getNodeValue,
  modify,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from 'jsonc-parser';
import { z } from 'zod';
import type { ConfigFormat } from './config-format.ts';

const BOM = '\u{feff}';
const object = z.record(z.string(), z.unknown());

export function createJsonFormat({ comments }: { comments: boolean }): ConfigFormat {
  const options = { disallowComments: !comments, allowTrailingComma: comments, allowEmptyContent: true };
  /** Parses the text. @throws Error with the line of the first problem */
  const treeOf = (text: string): Node | undefined => {
    const errors: ParseError[] = [];
    const tree = parseTree(text, errors, options);
    const [first] = errors;
    if (first !== undefined) {
      const line = text.slice(0, first.offset).split('\n').length;
      throw new Error(`it is not JSON (line ${String(line)}: ${printParseErrorCode(first.error)})`);
    }
    if (tree !== undefined && tree.type !== 'object') throw new Error('it contains no JSON object');
    return tree;
  };
  const read = (text: string, keys: readonly string[]): unknown => {
    const tree = treeOf(text);
    for (let at = 1; at < keys.length; at += 1) {
      const table = tree && findNodeAtLocation(tree, keys.slice(0, at));
      if (table !== undefined && table.type !== 'object')
        throw new Error(`"${keys.slice(0, at).join('.')}" is not an object`);
    }
    const found = tree && findNodeAtLocation(tree, [...keys]);
    return found === undefined ? undefined : getNodeValue(found);
  };
  return {
    read: (text, keys) => read(withoutBom(text), keys),
    put(given, keys, entry) {
      const text = withoutBom(given);
      const found = read(text, keys);
      const before = object.safeParse(found).data;
      if (found !== undefined && before === undefined)
        throw new Error(`"${keys.join('.')}" is not an object`);
      let after = text.trim() === '' ? '{}\n' : text;
      if (before === undefined) after = setValueInText(after, keys, entry);
      // Each key is changed separately, so that comments inside the entry stay.
      else
        for (const [key, value] of Object.entries(entry))
          if (!isDeepStrictEqual(before[key], value)) after = setValueInText(after, [...keys, key], value);
      return given.startsWith(BOM) ? BOM + after : after;
    },
    remove(given, keys) {
      const after = setValueInText(withoutBom(given), keys, undefined);
      return given.startsWith(BOM) ? BOM + after : after;
    },
  };
}

function setValueInText(text: string, keys: readonly string[], value: unknown): string {
  return applyEdits(text, modify(text, [...keys], value, { formattingOptions: formattingOf(text) }));
}

function withoutBom(text: string): string {
  return text.startsWith(BOM) ? text.slice(1) : text;
}

/** Detects the indentation and line breaks of the file. */
function formattingOf(text: string): FormattingOptions {
  const indent = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
  return {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 4 : indent.length,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  };
}
