/** Logs: JSON lines on stderr, because stdout belongs to a protocol (B2). Secrets are never written (X1). */
import { pino } from 'pino';
import { visibleJson } from './visible-text.ts';
import type { DestinationStream, Logger } from 'pino';

export type { Logger };

export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

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

/** A pino logger. Fields that may hold a secret are censored, at the top and up to three levels down. */
export function createLogger(options: {
  name: string;
  level: LogLevel;
  destination?: DestinationStream;
}): Logger {
  return pino(
    {
      name: options.name,
      // A log is read at a terminal. The line stays the same JSON.
      hooks: { streamWrite: visibleJson },
      level: options.level,
      redact: {
        paths: ['', '*.', '*.*.', '*.*.*.'].flatMap((prefix) => SECRETS.map((key) => `${prefix}${key}`)),
        censor: '[redacted]',
      },
    },
    // Synchronous: the last words of a process that is about to die are the ones that matter.
    options.destination ?? pino.destination({ dest: 2, sync: true }),
  );
}

/** Sends what libraries say on the console to the log, at most once per process. stdout stays clean. */
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
