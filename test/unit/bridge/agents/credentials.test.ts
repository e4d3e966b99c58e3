import { describe, expect, test } from '@jest/globals';
import { credentialHeaders } from '../../../../bridge/agents/credentials.ts';
import { redactSecrets } from '../../../../bridge/agents/redaction.ts';
import { readSecretFromCommand } from '../../../../shared/runtime/secret-command.ts';

const SECRET = 'tok-3f2a9c1e7b4d';
const saying = (program: string): string[] => [process.execPath, '-e', program];

describe('the credentials of an agent', () => {
  test('the credentials come from the environment, from a command, or from the settings themselves', async () => {
    const found = await credentialHeaders(
      'Agent "team"',
      {
        tokenCommand: saying(`console.log(${JSON.stringify(SECRET)})`),
        headers: {
          'x-tenant': 'acme',
          'x-key': { env: 'KEY' },
          'x-other': { command: saying('console.log(7)') },
        },
      },
      { KEY: ' from-env\n' },
    );
    expect(found).toEqual({
      'x-tenant': 'acme',
      'x-key': 'from-env',
      'x-other': '7',
      authorization: `Bearer ${SECRET}`,
    });
    expect(await credentialHeaders('Agent "team"', { tokenEnv: 'T', headers: {} }, { T: 't' })).toEqual({
      authorization: 'Bearer t',
    });
    expect(await credentialHeaders('Agent "team"', { headers: {} }, {})).toEqual({});
  });

  test.each<[string, string[], RegExp]>([
    [
      'fails',
      saying(`console.log('${SECRET}'); console.error('${SECRET}'); process.exit(3)`),
      /ended with exit code 3/,
    ],
    ['is not there', ['/nowhere/such-a-program', SECRET], /was not found/],
    ['says nothing', saying(''), /is empty/],
    [
      'says more than a line',
      saying(`console.log('${SECRET}\\nmore')`),
      /not a single line of plain characters/,
    ],
    [
      'says far too much',
      saying(`process.stdout.write('${SECRET}'.repeat(10_000))`),
      /far more than a secret/,
    ],
    [
      'is killed',
      saying(`console.log('${SECRET}'); process.kill(process.pid, 'SIGKILL')`),
      /ended by the system/,
    ],
  ])(
    'a credential command that %s gives a clear error, which shows neither its output nor its arguments',
    async (_, command, says) => {
      const asked = credentialHeaders('Agent "team"', { tokenCommand: command, headers: {} }, {});
      const error: unknown = await asked.catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ reason: 'CONFIGURATION', message: expect.stringMatching(says) });
      expect(error).toMatchObject({ message: expect.stringContaining('"team"') });
      expect(wholeOf(error)).not.toContain(SECRET);
    },
  );

  test('a credential command that waits for input is ended at the time limit', async () => {
    await expect(readSecretFromCommand(saying('setInterval(() => undefined, 1000)'), 200)).rejects.toThrow(
      'did not end within 0.2 s',
    );
  });

  test('the error for a variable that is unset, or whose value cannot be sent, names the variable without its value', async () => {
    await expect(credentialHeaders('Agent "team"', { tokenEnv: 'T', headers: {} }, {})).rejects.toThrow(
      /variable T, which is not set/,
    );
    const error: unknown = await credentialHeaders(
      'Agent "team"',
      { tokenEnv: 'T', headers: {} },
      { T: `${SECRET}\n${SECRET}` },
    ).catch((thrown: unknown) => thrown);
    expect(wholeOf(error)).toContain('cannot be sent');
    expect(wholeOf(error)).not.toContain(SECRET);
  });
});

describe('the error text of an agent', () => {
  test.each([
    [`bad token ${SECRET}!`, 'bad token [secret]!'],
    [`header "Bearer ${SECRET}"`, 'header "[secret]"'],
    ['acme is no tenant', 'acme is no tenant'],
  ])('the error text is shown without the secrets of the request: %s', (said, shown) => {
    expect(redactSecrets(said, { authorization: `Bearer ${SECRET}`, 'x-tenant': 'acme' })).toBe(shown);
  });
});

/** Returns all texts of an error that a log could show. */
function wholeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return `${error.message}\n${error.stack ?? ''}\n${error.cause === undefined ? '' : wholeOf(error.cause)}`;
}
