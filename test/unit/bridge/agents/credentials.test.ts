import { describe, expect, test } from '@jest/globals';
import { createServer } from 'node:http';
import { inspect } from 'node:util';
import { Agent } from '../../../../bridge/agents/agent.ts';
import { credentialHeaders } from '../../../../bridge/agents/credentials.ts';
import { redactSecrets } from '../../../../bridge/agents/redaction.ts';
import { readSecretFromCommand } from '../../../../shared/runtime/secret-command.ts';
import { cleanUpLater } from '../../../support/clean-up.ts';
import { listenOnLoopback } from '../../../support/listen-on-loopback.ts';

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

const errorWithFacts = (metadata: object): object => ({
  error: { code: -32004, message: 'Refused.', data: [{ reason: 'FORBIDDEN', metadata }] },
});

describe('the error text of an agent', () => {
  test.each([
    [`bad token ${SECRET}!`, 'bad token [secret]!'],
    [`header "Bearer ${SECRET}"`, 'header "[secret]"'],
    ['acme is no tenant', 'acme is no tenant'],
  ])('the error text is shown without the secrets of the request: %s', (said, shown) => {
    expect(redactSecrets(said, [`Bearer ${SECRET}`, 'acme'])).toBe(shown);
  });

  test.each<[string, number, (token: string) => object]>([
    ['in its message', 200, (token) => ({ error: { code: -32000, message: `not ${token}` } })],
    ['in the facts of an error', 200, (token) => errorWithFacts({ header: `Bearer ${token}` })],
    ['in the refusal of the token', 401, (token) => ({ detail: token })],
    ['where the text is cut', 200, (token) => ({ error: { message: `${'x'.repeat(285)} ${token}` } })],
    ['where a body is cut', 500, (token) => ({ detail: 'x'.repeat(143), token })],
    ['where a body of spaces is cut', 500, (token) => ({ detail: ' '.repeat(743), token })],
  ])(
    'if an agent repeats a token %s, neither the error nor its cause contains it, even after the token was renewed',
    async (_, status, answer) => {
      let token = '';
      const server = createServer((request, response) => {
        const isCard = request.url?.endsWith('agent-card.json') === true;
        const supportedInterfaces = [
          { url: `http://${host}/`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
        ];
        const card = { name: 'repeating', supportedInterfaces, capabilities: {} };
        response.writeHead(isCard ? 200 : status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(isCard ? card : { jsonrpc: '2.0', id: 1, ...answer(token) }));
      });
      const { host, close } = await listenOnLoopback(server);
      cleanUpLater(close);
      const tokens = [SECRET, 'renewed-8d1c5b7a'];
      const agent = new Agent('repeating', () => {
        token ||= tokens[0] ?? '';
        return Promise.resolve({
          url: `http://${host}`,
          headers: { authorization: `Bearer ${tokens.shift() ?? ''}` },
        });
      });
      await agent.connect();
      await agent.reconnect();
      const error: unknown = await agent.ask((connection) => connection.list({})).catch((thrown) => thrown);
      expect(error).toMatchObject({ name: 'ProductError' });
      expect(inspect(error, { depth: null })).not.toContain(token.slice(0, 8));
    },
  );

  test('the search for a token in the cause of an error reads a whole error body, but only to a limited depth, and does not start without a token', async () => {
    let searched = 0;
    const probe = { [inspect.custom]: () => String((searched += 1)) };
    const nested = (depth: number): object => (depth === 0 ? probe : { inner: nested(depth - 1) });
    const url = 'http://127.0.0.1:1';
    const open = new Agent('open', () => Promise.resolve({ url, headers: {} }));
    const closed = new Agent('closed', () => Promise.resolve({ url, headers: { authorization: SECRET } }));
    for (const agent of [open, closed]) await agent.connect().catch(() => undefined);

    expect(open.failed(failing({ data: probe })).cause).toBeDefined();
    expect(closed.failed(failing({ data: nested(100) })).cause).toBeDefined();
    expect(searched).toBe(0);
    expect(closed.failed(failing({ data: nested(3) })).cause).toBeDefined();
    expect(searched).toBe(1);
    expect(closed.failed(failing({ body: `${'x'.repeat(60_000)}${SECRET}` })).cause).toBeUndefined();
  });
});

const failing = (fields: object): Error => Object.assign(new TypeError('fetch failed'), fields);

/** Returns all texts of an error that a log could show. */
function wholeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return `${error.message}\n${error.stack ?? ''}\n${error.cause === undefined ? '' : wholeOf(error.cause)}`;
}
