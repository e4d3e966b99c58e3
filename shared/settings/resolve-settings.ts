/**
 * Reads the settings from four sources. A flag overrides an environment variable, a variable overrides the
 * configuration file, and the file overrides the default. Each error names the setting, the source of its value, and
 * the allowed values.
 *
 * Both programs share one configuration file, with a section for each: `{ "server": { "port": 41242 }, "bridge": { … }
 * }`.
 */
import { readFile } from 'node:fs/promises';
import type { ParseError } from 'jsonc-parser';
import { z } from 'zod';
import { ProductError, errorCode } from '../runtime/errors.ts';
import { fileProblem } from '../runtime/file-problem.ts';
import type { Environment } from '../runtime/environment.ts';
import { nearestNames } from '../text/nearest-names.ts';
import { parseJson } from '../text/parse-json.ts';
import { inputProblem, zodIssuesText } from '../text/input-problem.ts';

/**
 * The definition of one setting. `kind` determines how the text of a flag or variable is parsed. If it is absent, the
 * text is the value. In a list, commas separate the items.
 */
export interface SettingDefinition<Schema extends z.ZodType = z.ZodType> {
  kind?: 'number' | 'boolean' | 'list';
  schema: Schema;
  /** The default value. It is absent if the setting is optional. The schema must then accept undefined. */
  fallback?: z.input<Schema>;
  /** The environment variable, if its name does not come from the key. */
  env?: string;
  describe: string;
  /** The name of the value in `--help`, e.g. `number`. A boolean setting has none. */
  placeholder?: string;
  /** True if the flag may be given without a value. */
  valueOptional?: true;
  /** The allowed values, as the end of a sentence that starts with "Allowed:". */
  allowed: string;
}

type SettingDefinitions = Readonly<Record<string, SettingDefinition>>;

/** A setting with its environment variable. */
export interface Setting extends SettingDefinition {
  env: string;
}
export type Settings = Readonly<Record<string, Setting>>;
export type SettingValues<S extends SettingDefinitions> = {
  -readonly [K in keyof S]: z.output<S[K]['schema']>;
};

/** Returns the setting unchanged. Callers use it because TypeScript then infers the exact type of the schema. */
export function defineSetting<Schema extends z.ZodType>(
  it: SettingDefinition<Schema>,
): SettingDefinition<Schema> {
  return it;
}

/** Defines a setting that is true or false. */
export function defineSwitch(fallback: boolean, describe: string): SettingDefinition<z.ZodBoolean> {
  return { kind: 'boolean', schema: z.boolean(), fallback, describe, allowed: 'true or false' };
}

/** Adds the environment variables: the prefix and the key, e.g. `A2A_SERVER_PUBLIC_URL` for `publicUrl`. */
export function withVariables<S extends SettingDefinitions>(
  prefix: string,
  settings: S,
): { readonly [K in keyof S]: S[K] & { env: string } } {
  const named = Object.entries(settings).map(([key, it]) => {
    const name = flagName(key).replaceAll('-', '_').toUpperCase();
    return [key, { env: `${prefix}_${name}`, ...it }];
  });
  // This line only restores the type of the object.
  return z.custom<{ readonly [K in keyof S]: S[K] & { env: string } }>().parse(Object.fromEntries(named));
}

/** The value of a setting before validation, and the source of the value, e.g. `flag --port`. */
interface Found {
  value: unknown;
  origin: string;
}

export interface SettingSources {
  /**
   * The flags by setting key. A flag that was not given is absent or undefined. A value is text, or the result of
   * commander's parser.
   */
  flags: Readonly<Record<string, unknown>>;
  env: Environment;
  /** This program's section of the configuration file. */
  file: { path: string; values: Readonly<Record<string, unknown>> };
}

/**
 * Returns the value of every setting.
 * @throws ProductError CONFIGURATION that names the first invalid value, or an unknown key of the file
 */
export function resolveSettings<S extends Settings>(settings: S, sources: SettingSources): SettingValues<S> {
  requireKnownKeys(settings, sources);
  return resolveKnownSettings(settings, sources);
}

/** @throws ProductError CONFIGURATION that names an unknown key of the file */
export function requireKnownKeys(settings: Settings, sources: SettingSources): void {
  const known = Object.keys(settings);
  const unknown = Object.keys(sources.file.values).find((key) => !Object.hasOwn(settings, key));
  if (unknown === undefined) return;
  const similar = nearestNames(unknown, known).map((key) => `"${key}"`);
  const hint = similar.length > 0 ? `Did you mean ${similar.join(' or ')}?` : `Known: ${known.join(', ')}.`;
  throw new ProductError('CONFIGURATION', `Unknown setting "${unknown}" in ${sources.file.path}. ${hint}`, {
    facts: { key: unknown, origin: sources.file.path },
  });
}

/**
 * Returns the values of these settings. Ignores the other keys of the file.
 * @throws ProductError CONFIGURATION that names the first invalid value
 */
export function resolveKnownSettings<S extends Settings>(
  settings: S,
  sources: SettingSources,
): SettingValues<S> {
  const values = Object.entries(settings).map(([key, it]) => [key, resolve(key, it, sources)]);
  // `resolve` has already validated each value. This line only restores the type of the object.
  return z.custom<SettingValues<S>>().parse(Object.fromEntries(values));
}

function resolve(key: string, it: Setting, sources: SettingSources): unknown {
  const { value, origin } = find(key, it, sources) ?? { value: it.fallback, origin: 'default' };
  const parsed = it.schema.safeParse(value, { error: settingProblem });
  if (parsed.success) return parsed.data;
  // In `--open doctor`, the command `doctor` is read as the value of the flag. The hint says how to prevent this.
  const hint =
    it.kind === 'boolean' && sources.flags[key] !== undefined
      ? ` Before a command, write --${flagName(key)}=yes.`
      : '';
  throw new ProductError(
    'CONFIGURATION',
    `Setting "${key}" from ${origin} is not valid: ${zodIssuesText(parsed.error)}. Allowed: ${it.allowed}.${hint}`,
    { facts: { key, origin } },
  );
}

/** Like `inputProblem`, but does not list the values of the setting itself: the error ends with them. */
function settingProblem(issue: z.core.$ZodRawIssue): string {
  return issue.code === 'invalid_value' && (issue.path ?? []).length === 0
    ? 'it is not an allowed value'
    : inputProblem(issue);
}

function find(key: string, it: Setting, { flags, env, file }: SettingSources): Found | undefined {
  const flag = flags[key];
  if (flag !== undefined) return { value: read(it, flag), origin: `flag --${flagName(key)}` };
  const variable = env[it.env];
  // An empty variable counts as not set. `NAME= command` is the usual way to disable a variable for one command.
  if (variable !== undefined && variable !== '')
    return { value: read(it, variable), origin: `environment variable ${it.env}` };
  const filed = file.values[key];
  if (filed !== undefined) return { value: filed, origin: file.path };
  return undefined;
}

/**
 * Parses the text as the setting's kind. If the text does not have the form of that kind, returns it unchanged, and the
 * schema then reports the error.
 */
function read(it: Setting, value: unknown): unknown {
  if (typeof value !== 'string' || it.kind === undefined) return value;
  switch (it.kind) {
    case 'number':
      return value.trim() === '' || Number.isNaN(Number(value)) ? value : Number(value);
    case 'boolean':
      return { true: true, '1': true, yes: true, false: false, '0': false, no: false }[value] ?? value;
    case 'list':
      return value
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '');
  }
}

/** Returns the name of a setting's flag, e.g. `state-dir` for `stateDir`. */
export function flagName(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Returns the source of a setting's value, for messages: a flag, a variable, the path of the file, or `default`. */
export function sourceOfSetting<S extends Settings>(
  settings: S,
  key: keyof S & string,
  sources: SettingSources,
): string {
  const it = settings[key];
  return (it && find(key, it, sources)?.origin) ?? 'default';
}

const configFile = z.strictObject({
  server: z.record(z.string(), z.unknown()).default({}),
  bridge: z.record(z.string(), z.unknown()).default({}),
});
type ConfigSections = z.infer<typeof configFile>;

/**
 * Reads the configuration file. Returns empty sections if the file does not exist.
 * @param required true if the user named this file, so that it must exist
 * @throws ProductError CONFIGURATION
 */
export async function readConfigFile(path: string, required: boolean): Promise<ConfigSections> {
  let text: string;
  try {
    // An editor may write a byte order mark (RFC 8259 §8.1).
    text = (await readFile(path, 'utf8')).replace(/^\u{feff}/u, '');
  } catch (error) {
    // ENOTDIR also means that the file does not exist. `prepareStateDirectory` reports the wrong path later.
    if (!required && ['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return configFile.parse({});
    throw unreadable(path, fileProblem(error), error);
  }
  const json = parseJson(text);
  if (json === undefined) throw unreadable(path, await jsonProblem(text));
  const parsed = configFile.safeParse(json, { error: inputProblem });
  if (!parsed.success)
    throw unreadable(path, `${zodIssuesText(parsed.error)}; it has the sections "server" and "bridge"`);
  return parsed.data;
}

/** Names the line of the first error. X1: the message of `JSON.parse` has a part of the text, which may be a secret. */
async function jsonProblem(text: string): Promise<string> {
  const { parseTree, printParseErrorCode } = await import('jsonc-parser');
  const errors: ParseError[] = [];
  parseTree(text, errors, { disallowComments: true });
  const [first] = errors;
  if (first === undefined) return 'it is not JSON';
  const line = text.slice(0, first.offset).split('\n').length;
  // The code is in camel case, e.g. `ValueExpected`.
  const problem = printParseErrorCode(first.error).replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`);
  return `it is not JSON (line ${line}: ${problem.toLowerCase()})`;
}

function unreadable(path: string, problem: string, cause?: unknown): ProductError {
  return new ProductError('CONFIGURATION', `The configuration file ${path} cannot be used: ${problem}.`, {
    facts: { origin: path },
    cause,
  });
}
