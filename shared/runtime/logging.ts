/**
 * Writes log lines as JSON to stderr. B2: the bridge's stdout carries only MCP messages. X1: no token or other secret
 * is logged.
 */
import { pino } from 'pino';
import { ProductError } from './errors.ts';
import { visibleJson } from '../text/visible-text.ts';
import type { DestinationStream, Logger } from 'pino';

export type { Logger };

export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

/** The names of fields that may contain a secret. */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  'token',
  'tokens',
  'authorization',
  'Authorization',
  'cookie',
  'apiKey',
  'password',
  'secret',
]);
const SECRET_FIELD = new RegExp(`"(?:${[...SECRET_FIELDS].join('|')})":`);
const CENSOR = '[redacted]';

/** Creates a pino logger. It redacts the fields that may contain a secret, at every log level. */
export function createLogger(options: {
  name: string;
  level: LogLevel;
  destination?: DestinationStream;
}): Logger {
  const destination = options.destination ?? standardError();
  return pino(
    {
      name: options.name,
      // Escapes hidden characters, because a person may read the log in a terminal. The line remains the same JSON
      // value.
      hooks: { streamWrite: (line) => visibleJson(redactSecrets(line)) },
      level: options.level,
      serializers: { err: errorForLog },
    },
    destination,
  );
}

/** Returns the fields of an error. The message of a storage error says what to do, so the log has no stack trace. */
function errorForLog(error: unknown): unknown {
  if (error instanceof ProductError && error.reason === 'STORAGE')
    return { type: error.name, message: error.message, reason: error.reason, ...error.facts };
  return error instanceof Error ? pino.stdSerializers.err(error) : error;
}

/**
 * Replaces the values of secret fields. pino's own redaction is not used. It copies the object of each line, which
 * takes ten times as long as the rest of a log line.
 */
function redactSecrets(line: string): string {
  if (!SECRET_FIELD.test(line)) return line;
  const censored: unknown = JSON.parse(line, (key, value: unknown) =>
    SECRET_FIELDS.has(key) ? CENSOR : value,
  );
  return `${JSON.stringify(censored)}\n`;
}

function standardError(): DestinationStream {
  // The writes are synchronous, so that the last lines of a crashing process are not lost.
  const destination = pino.destination({ dest: 2, sync: true });
  // The error is ignored, because code that logs must not fail. On a full disk, the log loses lines.
  destination.on('error', () => undefined);
  return destination;
}

/**
 * Sends the console output of libraries to the log, because the bridge's stdout carries only MCP messages. The program
 * calls this function once.
 */
export function consoleToLog(logger: Logger): void {
  const say =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (...words: unknown[]): void =>
      logger[level]({ from: 'console', words: words.map(printableText) }, 'a library wrote to the console');
  Object.assign(globalThis.console, {
    debug: say('debug'),
    log: say('info'),
    info: say('info'),
    warn: say('warn'),
    error: say('error'),
  });
}

function printableText(word: unknown): string {
  if (word instanceof Error) return word.stack ?? word.message;
  return typeof word === 'string' ? word : (JSON.stringify(word) ?? String(word));
}
