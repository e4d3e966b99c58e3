/**
 * Configuration: flags > environment > one JSON file > default, each value checked with zod, and each error naming the
 * key, where the value came from and what is allowed. Pure but for `readConfigFile`.
 *
 * The file is one for both programs, a section for each: `{ "server": { "port": 41242 }, "bridge": { … } }`.
 */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { messageOf, ProductError } from './errors.ts';
import { settingProblem } from './setting-problem.ts';
import { systemErrorCode } from './system-error.ts';

/** One setting. `kind` says how a flag's or a variable's text is read: a list is separated by commas. */
export interface Setting<Schema extends z.ZodType = z.ZodType> {
  kind: 'text' | 'number' | 'boolean' | 'list';
  schema: Schema;
  /** The default; undefined where the setting may stay unset (the schema must then allow it). */
  fallback: z.input<Schema>;
  env: string;
  /** What it does, for `--help`. */
  describe: string;
  /** The value's name in `--help`, e.g. `number`; a boolean has none. */
  placeholder?: string;
  /** The flag may be given without a value. */
  valueOptional?: true;
  /** What is allowed, as the end of the sentence "allowed: …". */
  allowed: string;
}

export type Settings = Readonly<Record<string, Setting>>;
export type SettingValues<S extends Settings> = { -readonly [K in keyof S]: z.output<S[K]['schema']> };

/** A setting, with the type of its schema kept. */
export function setting<Schema extends z.ZodType>(it: Setting<Schema>): Setting<Schema> {
  return it;
}

/** A value as it was found, and where. */
interface Found {
  value: unknown;
  origin: string;
}

export interface Sources {
  /** Flags by the setting's key; absent or undefined where not given. Texts, or what commander made of them. */
  flags: Readonly<Record<string, unknown>>;
  env: Readonly<Record<string, string | undefined>>;
  /** The program's section of the configuration file. */
  file: { path: string; values: Readonly<Record<string, unknown>> };
}

/**
 * Every setting's value.
 * @throws ProductError CONFIGURATION naming the first value that is not allowed, or a key of the file that is unknown.
 */
export function resolveSettings<S extends Settings>(settings: S, sources: Sources): SettingValues<S> {
  const unknown = Object.keys(sources.file.values).find((key) => !Object.hasOwn(settings, key));
  if (unknown !== undefined)
    throw new ProductError(
      'CONFIGURATION',
      `Unknown setting "${unknown}" in ${sources.file.path}. Known: ${Object.keys(settings).join(', ')}.`,
      { facts: { key: unknown, origin: sources.file.path } },
    );
  const values = Object.entries(settings).map(([key, it]) => [key, resolve(key, it, sources)]);
  // Each value has just been parsed with its own schema: this only puts the key and its type together again.
  return z.custom<SettingValues<S>>().parse(Object.fromEntries(values));
}

function resolve(key: string, it: Setting, sources: Sources): unknown {
  const { value, origin } = find(key, it, sources) ?? { value: it.fallback, origin: 'default' };
  const parsed = it.schema.safeParse(value, { error: settingProblem });
  if (parsed.success) return parsed.data;
  throw new ProductError(
    'CONFIGURATION',
    `Setting "${key}" from ${origin} is not valid: ${issuesOf(parsed.error)}. Allowed: ${it.allowed}.`,
    { facts: { key, origin } },
  );
}

function find(key: string, it: Setting, { flags, env, file }: Sources): Found | undefined {
  const flag = flags[key];
  if (flag !== undefined) return { value: read(it, flag), origin: `flag --${dashed(key)}` };
  const variable = env[it.env];
  // An empty variable is how a shell unsets one for a single command.
  if (variable !== undefined && variable !== '')
    return { value: read(it, variable), origin: `environment variable ${it.env}` };
  const filed = file.values[key];
  if (filed !== undefined) return { value: filed, origin: file.path };
  return undefined;
}

/** Reads text as the setting's kind; what cannot be read stays as it is, for the schema to refuse by name. */
function read(it: Setting, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  switch (it.kind) {
    case 'text':
      return value;
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

/** `stateDir` → `state-dir`: how a setting's flag is spelt. */
export function dashed(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Where a setting's value comes from, as messages name it: a flag, a variable, the file, or `default`. */
export function originOf<S extends Settings>(settings: S, key: keyof S & string, sources: Sources): string {
  const it = settings[key];
  return (it && find(key, it, sources)?.origin) ?? 'default';
}

/** One line for a zod error: each path with what is wrong there. The value is left out, it may be a secret. */
export function issuesOf(error: z.ZodError): string {
  return error.issues
    .map((issue) => (issue.path.length === 0 ? issue.message : `${issue.path.join('.')}: ${issue.message}`))
    .join('; ');
}

const configFile = z.strictObject({
  server: z.record(z.string(), z.unknown()).default({}),
  bridge: z.record(z.string(), z.unknown()).default({}),
});
export type ConfigFile = z.infer<typeof configFile>;

/**
 * The configuration file, empty where there is none.
 * @param required whether the person named this very file, which must then exist.
 * @throws ProductError CONFIGURATION
 */
export async function readConfigFile(path: string, required: boolean): Promise<ConfigFile> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    // A path through a file holds no file either; what is wrong with it is for whoever makes the directory to say.
    if (!required && ['ENOENT', 'ENOTDIR'].includes(systemErrorCode(error) ?? ''))
      return configFile.parse({});
    throw unreadable(path, messageOf(error), error);
  }
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    throw unreadable(path, `it is not JSON (${messageOf(error)})`, error);
  }
  const parsed = configFile.safeParse(json, { error: settingProblem });
  if (!parsed.success)
    throw unreadable(path, `${issuesOf(parsed.error)}; it has the sections "server" and "bridge"`);
  return parsed.data;
}

function unreadable(path: string, problem: string, cause?: unknown): ProductError {
  return new ProductError('CONFIGURATION', `The configuration file ${path} cannot be used: ${problem}.`, {
    facts: { origin: path },
    cause,
  });
}
