/** Writes logs as JSON lines to stderr, because stdout has a protocol (B2). Logs contain no secrets (X1). */
import { pino } from 'pino';
import { visibleJson } from '../text/visible-text.ts';
import type { DestinationStream, Logger } from 'pino';

export type { Logger };

export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

const SECRETS = [
  'token',
  'tokens',
  'authorization',
  'Authorization',
  'cookie',
  'apiKey',
  'password',
  'secret',
];

/** Creates a pino logger. It redacts fields that may hold a secret, down to three levels. */
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
      hooks: { streamWrite: visibleJson },
      level: options.level,
      redact: {
        paths: ['', '*.', '*.*.', '*.*.*.'].flatMap((prefix) => SECRETS.map((key) => `${prefix}${key}`)),
        censor: '[redacted]',
      },
    },
    destination,
  );
}

function standardError(): DestinationStream {
  // Synchronous: the last lines of a crashing process must be written.
  const destination = pino.destination({ dest: 2, sync: true });
  // On a full disk the log loses lines. The code that logs must not fail because of that.
  destination.on('error', () => undefined);
  return destination;
}

/** Sends console output of libraries to the log, so that stdout stays clean. Call it once per process. */
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
