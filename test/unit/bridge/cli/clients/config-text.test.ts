import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  configFormatOf,
  putBridgeEntry,
  bridgeStartedBy,
  removeBridgeEntry,
} from '../../../../../bridge/cli/clients/config-text.ts';
import { numberOfRuns } from '../../../../support/property-runs.ts';

const entry = { command: '/usr/bin/node', args: ['/opt/mcp-a2a-bridge/dist/bridge/main.js'] };

describe('the bridge’s entry in a client’s settings', () => {
  it.each([
    [{ command: 'node', args: ['/x/dist/bridge/main.js'] }, true],
    [{ command: 'C:\\node.exe', args: ['C:\\x\\bridge\\main.js', '--http'] }, true],
    [{ command: '/usr/bin/mcp-a2a-bridge' }, true],
    [{ command: 'npx', args: ['-y', 'mcp-a2a-bridge'] }, true],
    [{ command: 'npx', args: ['-y', 'mcp-a2a-bridge@1.2.3', '--tool-prefix', 'x_'] }, true],
    [{ command: 'cmd', args: ['/c', 'npx', '-y', 'mcp-a2a-bridge@latest'] }, true],
    [{ command: 'npx', args: ['-y', 'mcp-a2a-bridge-tools@1.2.3'] }, false],
    [{ command: 'node', args: ['/x/cambridge/main.js'] }, false],
    [{ url: 'https://example.com/bridge/main.js' }, false],
    ['text', false],
  ])('the entry %j starts the bridge: %s', (value, is) =>
    expect(bridgeStartedBy(value) !== undefined).toBe(is),
  );
});

describe.each(['json', 'jsonc', 'toml'] as const)('%s', (format) => {
  const config = configFormatOf(format);
  const keys = ['servers', 'a2a-bridge'];

  it('an empty settings text gets the entry once, and loses it again', () => {
    for (const empty of ['', '\n', '  ']) {
      const put = putBridgeEntry(config, empty, { keys, entry });
      expect(put).toMatchObject({ type: 'changed' });
      const text = put.type === 'changed' ? put.text : '';
      expect(config.read(text, keys)).toEqual(entry);
      expect(putBridgeEntry(config, text, { keys, entry })).toEqual({ type: 'same' });
      const gone = removeBridgeEntry(config, text, keys);
      expect(gone.type === 'changed' && config.read(gone.text, keys)).toBeUndefined();
    }
  });

  it('all other content of the settings stays: other servers and settings, in any order of additions and removals', () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/);
    const others = fc.dictionary(name, fc.record({ command: fc.string(), args: fc.array(fc.string()) }));
    fc.assert(
      fc.property(others, fc.dictionary(name, fc.string()), (servers, settings) => {
        let text = '';
        const put = (at: string[], value: Record<string, unknown>): void => {
          text = config.put(text, at, value);
        };
        for (const [key, value] of Object.entries(servers)) put(['servers', key], value);
        put(['other'], settings);
        const withIt = putBridgeEntry(config, text, { keys, entry });
        const after = withIt.type === 'changed' ? withIt.text : text;
        for (const [key, value] of Object.entries(servers))
          if (key !== 'a2a-bridge') expect(config.read(after, ['servers', key])).toEqual(value);
        expect(config.read(after, ['other'])).toEqual(settings);
        const without = removeBridgeEntry(config, after, keys);
        const end = without.type === 'changed' ? without.text : after;
        for (const [key, value] of Object.entries(servers))
          if (key !== 'a2a-bridge') expect(config.read(end, ['servers', key])).toEqual(value);
      }),
      { numRuns: numberOfRuns(60) },
    );
  });

  it('another server with the bridge’s name is not changed', () => {
    const text = config.put('', keys, { command: 'other', args: [] });
    expect(putBridgeEntry(config, text, { keys, entry })).toEqual({ type: 'taken' });
    expect(removeBridgeEntry(config, text, keys)).toEqual({ type: 'taken' });
  });
});

describe('client settings in TOML', () => {
  it.each(['', '[servers.other]\ncommand = "c"\n'])(
    'the settings are as before after the entry is added and removed: %j',
    (servers) => {
      const before = `model = "x" # mine\n${servers}`;
      const toml = configFormatOf('toml');
      const keys = ['servers', 'a2a-bridge'];
      expect(toml.remove(toml.put(before, keys, entry), keys)).toBe(before);
    },
  );
});

describe('client settings in TOML of Windows', () => {
  it('a new table has the line ends of the file', () => {
    const after = configFormatOf('toml').put('model = "x"\r\n', ['servers', 'x'], {
      command: 'c',
      args: ['a'],
    });
    expect(after.startsWith('model = "x"\r\n\r\n[servers.x]\r\ncommand = "c"\r\n')).toBe(true);
    expect(after.replaceAll('\r\n', '')).not.toContain('\n');
  });
});

describe('client settings in JSON', () => {
  it('the settings keep a byte order mark, tabs, and line ends as they are', () => {
    const text = '\u{feff}{\r\n\t"a": 1\r\n}\r\n';
    const after = configFormatOf('jsonc').put(text, ['servers', 'x'], { command: 'c' });
    expect(after.startsWith('\u{feff}{\r\n\t"a": 1,\r\n\t"servers": {\r\n\t\t"x": {')).toBe(true);
    expect(after.replaceAll('\r\n', '')).not.toContain('\n');
  });

  it.each(['[]', 'null', '"text"'])(
    'a value %s is not replaced by an entry, because it may be a mistake',
    (value) =>
      expect(() => configFormatOf('json').put(`{"server": ${value}}`, ['server'], { model: 'm' })).toThrow(
        '"server" is not an object',
      ),
  );

  it('the error names the line with the invalid JSON', () => {
    expect(() => configFormatOf('json').read('{\n "a": }', ['a'])).toThrow(/line 2/);
  });
});
