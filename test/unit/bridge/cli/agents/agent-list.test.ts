/** Tests the documents of registries: AI Catalogs, lists of agent cards, and documents of other kinds. */
import { describe, expect, it } from '@jest/globals';
import { parseAgentList } from '../../../../../bridge/cli/agents/registry/agent-list.ts';
import { agentListText } from '../../../../../bridge/cli/agents/registry/agent-list-text.ts';
import { terminalErrorText } from '../../../../../bridge/cli/context/run-command.ts';

const CARD = 'application/a2a-agent-card+json';

function catalog(...entries: object[]): object {
  return { specVersion: '1.0', entries };
}

describe('an AI Catalog', () => {
  it('has agents by the URL of their card or with an inline card; other items are counted', () => {
    const list = parseAgentList(
      catalog(
        { identifier: 'urn:air:acme.com:agent:research', type: CARD, url: 'https://a.example/cards/7' },
        {
          identifier: 'urn:air:acme.com:agent:x',
          displayName: 'Finance',
          description: 'Books.',
          type: `${CARD}; charset=utf-8`,
          data: {
            name: 'other name',
            description: 'other words',
            supportedInterfaces: [{ url: 'https://b.example/a2a' }, { url: 'https://b.example/rest' }],
          },
        },
        {
          identifier: 'urn:air:acme.com:mcp:y',
          type: 'application/mcp-server-card+json',
          url: 'https://c.example',
        },
        { identifier: 'urn:x', type: 'application/ai-catalog+json', url: 'https://more.example/c.json' },
      ),
    );
    expect(list).toEqual({
      agents: [
        {
          name: 'research',
          title: 'research',
          description: '',
          url: 'https://a.example/cards/7',
          cardUrl: 'https://a.example/cards/7',
        },
        { name: 'finance', title: 'Finance', description: 'Books.', url: 'https://b.example/a2a' },
      ],
      unusable: [],
      others: 1,
      catalogs: ['https://more.example/c.json'],
      total: undefined,
    });
  });

  it('a card at the well-known path belongs to the URL before this path', () => {
    const { agents } = parseAgentList(
      catalog(
        { displayName: 'a', mediaType: CARD, url: 'https://a.example/x/.well-known/agent-card.json' },
        { displayName: 'b', type: CARD, url: 'https://b.example/cards/b.json' },
      ),
    );
    expect(agents).toMatchObject([
      { url: 'https://a.example/x/' },
      { url: 'https://b.example/cards/b.json' },
    ]);
    expect(agents.some((agent) => 'cardUrl' in agent)).toBe(false);
  });

  it.each([
    [['2.9.0', '2.10.0', '2.10.0-rc.1'], '2.10.0'],
    [['1.0.0-rc.2', '1.0.0-rc.10'], '1.0.0-rc.10'],
    [['1.0.0-rc-2', '1.0.0-rc-10'], '1.0.0-rc-10'],
    [['1.0.0-rc.1+9', '1.0.0-rc.1.1'], '1.0.0-rc.1.1'],
  ])('of the versions %j of one agent, only %s is listed', (versions, newest) => {
    const entries = versions.map((version) => ({
      identifier: 'urn:air:acme.com:agent:finance',
      version,
      type: CARD,
      url: `https://a.example/${version}.json`,
    }));
    for (const each of [entries, entries.toReversed()])
      expect(parseAgentList(catalog(...each)).agents).toMatchObject([
        { url: `https://a.example/${newest}.json` },
      ]);
  });

  it('a nested catalog is read to the depth of 4', () => {
    const nested = (depth: number): object =>
      depth === 0
        ? { displayName: 'deep', type: CARD, url: 'https://a.example/card.json' }
        : { displayName: 'n', type: 'application/ai-catalog+json', data: catalog(nested(depth - 1)) };
    expect(parseAgentList(catalog(nested(3)))).toMatchObject({ agents: [{ name: 'deep' }], unusable: [] });
    expect(parseAgentList(catalog(nested(4)))).toMatchObject({
      agents: [],
      unusable: [{ problem: 'its catalogs are nested too deep' }],
    });
  });

  it('a later major version is refused', () => {
    expect(() => parseAgentList({ specVersion: '2.0', entries: [] })).toThrow('version 2.0');
  });
});

describe('a list of agents', () => {
  const card = { name: 'Hello World Agent', description: 'Greets.', url: 'https://hello.example/a2a' };

  it('is an array, or the agents of an object', () => {
    const agents = [{ name: 'hello-world-agent', title: card.name, description: 'Greets.', url: card.url }];
    expect(parseAgentList([card])).toMatchObject({ agents, total: undefined });
    expect(parseAgentList({ agents: [card], total: 1 })).toMatchObject({ agents, total: undefined });
    expect(parseAgentList({ agents: [card], total: 30, limit: 1, offset: 0 })).toMatchObject({
      agents,
      total: 30,
    });
    expect(parseAgentList({ agents: [card], pagination: { total: 2 } })).toMatchObject({ agents, total: 2 });
  });

  it('an item may be a URL, or say where the card is', () => {
    const wellKnownURI = 'https://hello.example/.well-known/agent-card.json';
    expect(parseAgentList(['https://a.example/x', { ...card, wellKnownURI }]).agents).toMatchObject([
      { name: 'a.example', url: 'https://a.example/x' },
      { url: 'https://hello.example/' },
    ]);
  });

  it('names are unique, and the same URL is listed once', () => {
    const { agents } = parseAgentList([card, card, { ...card, url: 'https://two.example' }]);
    expect(agents.map(({ name }) => name)).toEqual(['hello-world-agent', 'hello-world-agent-2']);
  });

  it.each([
    ['ftp://a.example', 'it is not a URL that begins with http:// or https://'],
    ['127.0.0.1:41777', 'it is not a URL that begins with http:// or https://'],
    ['https://user:secret@a.example/', 'a user or password belongs into a header, not into the URL'],
    [undefined, 'it has no URL'],
  ])('the URL %s cannot be used, and hides no other agent', (url, problem) => {
    expect(parseAgentList([{ name: 'odd', url }, card, 7])).toMatchObject({
      agents: [{ title: card.name }],
      unusable: [{ title: 'odd', problem }, { title: '' }],
    });
  });
});

it.each([
  [{ name: 'a', url: 'https://a.example' }, 'agents add'],
  [{ name: 'a', supportedInterfaces: [] }, 'agents add'],
  [{ servers: [] }, 'no AI Catalog'],
  ['text', 'no AI Catalog'],
  [null, 'no AI Catalog'],
  [{ entries: [] }, 'specVersion'],
  [Array.from({ length: 2001 }, () => 'https://a.example'), '2000'],
])('the document %j is no registry', (document, problem) => {
  expect(() => parseAgentList(document)).toThrow(problem);
});

it('a text of a registry cannot control the terminal', () => {
  const hostile = '\u{1b}[2J\u{202e}\n';
  const shown = agentListText(
    parseAgentList([
      { name: hostile, description: hostile, url: 'https://a.example' },
      { name: hostile, url: hostile },
    ]),
    80,
  );
  // eslint-disable-next-line no-control-regex
  expect(shown).not.toMatch(/[\u{1b}\u{202e}]/u);
});

it('the URL of another catalog is one word of the command, also in a shell', () => {
  const list = parseAgentList(
    catalog({ identifier: 'c', type: 'application/ai-catalog+json', url: 'https://a.example/c?a=1&b=$(x)' }),
  );
  expect(agentListText(list, undefined)).toContain("agents import 'https://a.example/c?a=1&b=$(x)'");
});

it('the error about a document cannot control the terminal either', () => {
  let problem: unknown;
  try {
    parseAgentList({ specVersion: '2\u{1b}[2J', entries: [] });
  } catch (error) {
    problem = error;
  }
  expect(terminalErrorText(problem)).toContain(String.raw`version 2\u{1b}[2J`);
});

it('X3 a registry with long texts is listed, and each text is cut', () => {
  const long = 'A'.repeat(1_000_000);
  const shown = agentListText(
    parseAgentList([
      { name: long, description: long, url: `https://a.example/${long}` },
      { name: long },
      long,
    ]),
    undefined,
  );
  expect(shown.length).toBeLessThan(3_000);
});
