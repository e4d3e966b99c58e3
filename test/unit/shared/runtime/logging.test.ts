import { afterEach, describe, expect, test } from '@jest/globals';
import { consoleToLog, createLogger } from '../../../../shared/runtime/logging.ts';

function logger() {
  const lines: string[] = [];
  const log = createLogger({
    name: 'test',
    level: 'debug',
    destination: { write: (line) => void lines.push(line) },
  });
  return { log, text: () => lines.join('') };
}

const original = { ...globalThis.console };
afterEach(() => void Object.assign(globalThis.console, original));

describe('logs', () => {
  test('X1 redact the usual fields of secrets', () => {
    const { log, text } = logger();
    log.info({ token: 'secret-1', headers: { authorization: 'secret-2' } }, 'one');
    log.info({ request: { headers: { authorization: 'secret-3', cookie: 'secret-4' } } }, 'two');
    log.info({ settings: { providers: { openai: { apiKey: 'secret-5' } } } }, 'three');
    expect(text()).not.toMatch(/secret-\d/);
    expect(text()).toContain('[redacted]');
  });

  test('contain the stack of an error', () => {
    const { log, text } = logger();
    log.error({ err: new Error('it broke') }, 'oh');
    expect(text()).toContain('"message":"it broke"');
    expect(text()).toContain('logging.test.ts');
  });

  test('B2 contain the console output of libraries, which does not reach stdout', () => {
    const { log, text } = logger();
    consoleToLog(log);
    globalThis.console.log('hello', { a: 1 });
    globalThis.console.error('oh', new Error('it broke'));
    expect(text()).toContain('{\\"a\\":1}');
    expect(text()).toContain('it broke');
  });
});
