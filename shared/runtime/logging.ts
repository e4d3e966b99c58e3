/** Writes logs as JSON lines to stderr, because the bridge's stdout carries MCP (B2). Logs contain no secrets (X1). */
import { pino } from 'pino';
import { visibleJson } from '../text/visible-text.ts';
import type { DestinationStream, Logger } from 'pino';

export type { Logger };

export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

/** Fields that may hold a secret. */
const SECRETS: ReadonlySet<string> = new Set([
  'token',
  'tokens',
  'authorization',
  'Authorization',
  'cookie',
  'apiKey',
  'password',
  'secret',
]);
const SECRET_FIELD = new RegExp(`"(?:${[...SECRETS].join('|')})":`);
const CENSOR = '[redacted]';

/** Creates a pino logger. Redacts fields that may contain a secret, at every level. */
export function createLogger(options: {
  name: string;
  level: LogLevel;
  destination?: DestinationStream;
}): Logger {
  const destination = options.destination ?? standardError();
  return pino(
    {
      name: options.name,
      // A person reads the log at a terminal, so hidden characters are escaped. The line stays the same JSON.
      hooks: { streamWrite: (line) => visibleJson(redacted(line)) },
      level: options.level,
    },
    destination,
  );
}

/** pino's own redaction copies the object of each line. It takes ten times as long as the rest of a line. */
function redacted(line: string): string {
  if (!SECRET_FIELD.test(line)) return line;
  const censored: unknown = JSON.parse(line, (key, value: unknown) => (SECRETS.has(key) ? CENSOR : value));
  return `${JSON.stringify(censored)}\n`;
}

function standardError(): DestinationStream {
  // The writes are synchronous, so that the last lines of a crashing process are not lost.
  const destination = pino.destination({ dest: 2, sync: true });
  // On a full disk the log loses lines. The code that logs must not fail because of that.
  destination.on('error', () => undefined);
  return destination;
}

/** Sends console output of libraries to the log, because the bridge's stdout carries MCP. A process calls this once. */
export function consoleToLog(logger: Logger): void {
  const say =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (...words: unknown[]): void =>
      logger[level]({ from: 'console', words: words.map(printable) }, 'a library wrote to the console');
  Object.assign(globalThis.console, {
    debug: say('debug'),
    log: say('info'),
    info: say('info'),
    warn: say('warn'),
    error: say('error'),
  });
}

function printable(word: unknown): string {
  if (word instanceof Error) return word.stack ?? word.message;
  return typeof word === 'string' ? word : (JSON.stringify(word) ?? String(word));
}
