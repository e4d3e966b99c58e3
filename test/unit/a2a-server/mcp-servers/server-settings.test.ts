import { describe, expect, it } from '@jest/globals';
import { mcpServerConfigsSchema } from '../../../../a2a-server/mcp-servers/server-settings.ts';
import { trustedServerRules } from '../../../../a2a-server/startup/settings/server-policy.ts';
import { resolveEnabledServers } from '../../../../a2a-server/mcp-servers/expand-server-variables.ts';
import { ALL_SERVER_SETTINGS } from '../../../../a2a-server/startup/settings/settings.ts';
import { resolveSettings } from '../../../../shared/settings/resolve-settings.ts';

function started(settings: unknown, env: Record<string, string> = {}) {
  return resolveEnabledServers(mcpServerConfigsSchema.parse(settings), env);
}

describe('the settings of MCP servers', () => {
  it('the settings accept the format of other clients, and add default values', () => {
    const servers = started({
      local: { command: 'npx', args: ['-y', 'it'], env: { A: 'b' } },
      remote: { url: 'https://example.com/mcp', headers: { 'x-key': 'k' }, timeout: 1500 },
      old: { type: 'sse', url: 'http://127.0.0.1:1/sse', timeout: '90s', trust: true },
    });
    const times = { idleTimeout: null, pingInterval: 30_000, pingTimeout: 10_000 };
    const plain = { disabled: false, trust: false, trustHints: false, tools: { exclude: [] }, ...times };
    expect([...servers.values()]).toEqual([
      { ...plain, type: 'stdio', command: 'npx', args: ['-y', 'it'], env: { A: 'b' }, timeout: 300_000 },
      { ...plain, type: 'http', url: 'https://example.com/mcp', headers: { 'x-key': 'k' }, timeout: 1500 },
      { ...plain, type: 'sse', url: 'http://127.0.0.1:1/sse', headers: {}, timeout: 90_000, trust: true },
    ]);
  });

  it('002 the settings take connect, idle and answer time-outs and the ping interval as durations or milliseconds', () => {
    const servers = started({
      a: { command: 'it', connectTimeout: '2m', timeout: '1h', idleTimeout: '30s', pingInterval: 5000 },
      b: { url: 'https://example.com', idleTimeout: 'never', pingInterval: 'never', pingTimeout: '3s' },
    });
    expect(servers.get('a')).toMatchObject({
      connectTimeout: 120_000,
      timeout: 3_600_000,
      idleTimeout: 30_000,
      pingInterval: 5_000,
    });
    expect(servers.get('b')).toMatchObject({ idleTimeout: null, pingInterval: null, pingTimeout: 3_000 });
  });

  it.each([
    [{ connectTimeout: 'never' }, 'connectTimeout'],
    [{ connectTimeout: 0 }, 'connectTimeout'],
    [{ pingTimeout: 'soon' }, 'pingTimeout'],
    [{ pingInterval: '2d' }, 'pingInterval'],
    [{ idleTimeout: '5m' }, 'idleTimeout'],
    [{ idleTimeout: '20s', timeout: '10s' }, 'idleTimeout'],
  ])('002 the settings refuse %j, and the error names the setting', (times, name) => {
    const parsed = mcpServerConfigsSchema.safeParse({ a: { command: 'it', ...times } });
    expect(parsed.error?.issues.map(({ path }) => path.join('.'))).toEqual([`a.${name}`]);
  });

  it('the settings replace environment variables in every value', () => {
    const servers = started(
      {
        local: { command: '${BIN}/it', args: ['${A}-${B:-other}'], env: { KEY: '${A}' }, cwd: '${C:-/tmp}' },
        remote: { url: 'https://${HOST}/mcp', headers: { authorization: 'Bearer ${A}' } },
      },
      { BIN: '/bin', A: 'secret', B: '', HOST: 'example.com' },
    );
    expect(servers.get('local')).toMatchObject({
      command: '/bin/it',
      args: ['secret-other'],
      env: { KEY: 'secret' },
      cwd: '/tmp',
    });
    expect(servers.get('remote')).toMatchObject({
      url: 'https://example.com/mcp',
      headers: { authorization: 'Bearer secret' },
    });
  });

  it('the error names the server and its missing variable; the settings ignore disabled servers', () => {
    const remote = { url: 'https://example.com', headers: { a: '${NOT_SET}' } };
    expect(() => started({ tracker: remote })).toThrow(/server "tracker": it needs .* variable NOT_SET/);
    expect(started({ tracker: { ...remote, disabled: true } }).size).toBe(0);
  });

  it.each([
    ['ftp://example.com', /is not an http or https address/],
    ['nowhere', /is not an http or https address/],
    ['https://me:hush@example.com', /contains a user or a password/],
  ])('the settings refuse the URL %s, and the error does not show the URL', (url, why) => {
    expect(() => started({ a: { url } })).toThrow(why);
    expect(() => started({ a: { url } })).not.toThrow(/hush/);
  });

  it('the settings refuse a header value with a line break', () => {
    const entry = { url: 'https://example.com', headers: { a: '${A}' } };
    expect(() => started({ a: entry }, { A: 'b\r\nc: d' })).toThrow(/header "a" has a line break/);
  });

  it.each([
    [{ a: { command: 'x', url: 'http://b' } }, /a: there is no "command" here/],
    [{ a: { command: 'x', comand: 1 } }, /a: there is no "comand" here/],
    [{ a: {} }, /a\.command: it is missing/],
    [{ a: { url: 'http://b', timeout: 'never' } }, /a\.timeout: /],
    [{ 'a/b': { command: 'x' } }, /a name|it has a name that is not allowed/],
  ])('the settings explain what is wrong with %j', (mcpServers, why) => {
    const sources = { flags: {}, env: {}, file: { path: 'config.json', values: { mcpServers } } };
    expect(() => resolveSettings(ALL_SERVER_SETTINGS, sources)).toThrow(why);
    expect(() => resolveSettings(ALL_SERVER_SETTINGS, sources)).toThrow(
      /^Setting "mcpServers" from config\.json/,
    );
  });

  it('the setting "trust" becomes a policy rule that allows the server', () => {
    const settings = mcpServerConfigsSchema.parse({
      a: { command: 'x', trust: true },
      b: { command: 'x' },
      c: { command: 'x', trust: true, disabled: true },
    });
    expect(trustedServerRules(settings)).toEqual([
      { action: 'allow', server: ['a'], comment: '"trust" in its settings' },
    ]);
  });
});
