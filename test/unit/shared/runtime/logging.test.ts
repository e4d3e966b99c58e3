import { afterEach, describe, expect, test } from '@jest/globals';
import { ProductError } from '../../../../shared/runtime/errors.ts';
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

describe('the log lines of both programs', () => {
  test('X1 the log redacts the usual fields of secrets', () => {
    const { log, text } = logger();
    log.info({ token: 'secret-1', headers: { authorization: 'secret-2' } }, 'one');
    log.info({ request: { headers: { authorization: 'secret-3', cookie: 'secret-4' } } }, 'two');
    log.info({ settings: { providers: { openai: { apiKey: 'secret-5' } } } }, 'three');
    log
      .child({ cookie: ['secret-6'] })
      .warn({ a: { b: { c: { d: [{ tokens: { e: 'secret-7' } }] } } } }, 'four');
    log.error({ err: Object.assign(new Error('five'), { password: 'secret-8' }) }, 'a "token": stays a word');
    expect(text()).not.toMatch(/secret-\d/);
    const lines = text().trimEnd().split('\n');
    expect(lines).toHaveLength(5);
    for (const line of lines) expect(JSON.stringify(JSON.parse(line))).toContain('[redacted]');
    expect(lines[4]).toContain('a \\"token\\": stays a word');
  });

  test('the log contains the stack of an error', () => {
    const { log, text } = logger();
    log.error({ err: new Error('it broke') }, 'oh');
    expect(text()).toContain('"message":"it broke"');
    expect(text()).toContain('logging.test.ts');
  });

  test('a storage error is logged as its sentence, without a stack', () => {
    const { log, text } = logger();
    const cause = new Error('SQLITE_FULL');
    const err = new ProductError('STORAGE', 'the disk is full', { facts: { code: 'SQLITE_FULL' }, cause });
    log.warn({ err }, 'oh');
    expect(JSON.parse(text())).toMatchObject({ err: { message: 'the disk is full', code: 'SQLITE_FULL' } });
    expect(text()).not.toContain('logging.test.ts');
  });

  test('B2 the log contains the console output of libraries, which does not reach stdout', () => {
    const { log, text } = logger();
    consoleToLog(log);
    globalThis.console.log('hello', { a: 1 });
    globalThis.console.error('oh', new Error('it broke'));
    expect(text()).toContain('{\\"a\\":1}');
    expect(text()).toContain('it broke');
  });
});
