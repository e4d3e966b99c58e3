/** Writes the table of a program's settings from their declarations. */
import { flagName, type Setting, type Settings } from '../../shared/settings/resolve-settings.ts';
import { code, type Row, table } from './markdown.ts';
import { inner, typeText } from './schema-fields.ts';

export function settingsSection(flagged: Settings, unflagged: Settings): string {
  return [
    table(
      ['flag', 'environment', 'default', 'meaning'],
      Object.entries(flagged).map(([key, it]) => {
        const word = it.valueOptional === true ? `[${it.placeholder}]` : `<${it.placeholder}>`;
        const value = it.placeholder === undefined ? '' : ` ${word}`;
        return [code(`--${flagName(key)}${value}`), ...cells(it, valuesText(it))];
      }),
    ),
    'Without a flag:',
    table(
      ['key', 'environment', 'default', 'meaning'],
      Object.entries(unflagged).map(([key, it]) => [code(key), ...cells(it, ` Allowed: ${it.allowed}.`)]),
    ),
  ].join('\n\n');
}

function cells({ env, fallback, describe }: Setting, values: string): Row {
  const meaning = `${describe.slice(0, 1).toUpperCase()}${describe.slice(1)}.`;
  return [code(env), defaultOf(fallback), withLinks(meaning + values)];
}

/** The placeholder of a flag may have the values already. */
function valuesText({ schema, placeholder = '' }: Setting): string {
  const def = inner(schema);
  return def.type === 'enum' && !placeholder.includes('|') ? ` One of: ${typeText(schema)}.` : '';
}

/**
 * Returns '' for an empty list, an empty table, and an optional setting. The description of the setting then says more.
 */
function defaultOf(fallback: unknown): string {
  if (typeof fallback === 'boolean') return fallback ? 'yes' : 'no';
  if (Array.isArray(fallback)) return fallback.length === 0 ? '' : code(fallback.join(','));
  return (typeof fallback === 'string' && fallback !== '') || typeof fallback === 'number'
    ? code(String(fallback))
    : '';
}

/** Makes links of the pages that a help text names, such as `docs/limits.md`. */
function withLinks(text: string): string {
  return text.replaceAll(/docs\/([\w-]+\.md)/g, '[$1]($1)');
}
