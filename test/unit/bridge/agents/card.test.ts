import { describe, expect, test } from '@jest/globals';
import { parseAgentCard, agentCardUrls, resumableStreamUrl } from '../../../../bridge/agents/card.ts';
import { RESUMABLE_STREAM_EXTENSION } from '../../../../shared/protocol/resumable-stream-extension.ts';

const rpc = { url: 'http://127.0.0.1:1/rpc', protocolBinding: 'JSONRPC', protocolVersion: '1.0' };
const rest = { url: 'http://127.0.0.1:1/rest/', protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' };
const extensions = [{ uri: RESUMABLE_STREAM_EXTENSION }];

const cursorsAt = (interfaces: object[], declared: object[] = extensions): string | null =>
  resumableStreamUrl(
    parseAgentCard({ supportedInterfaces: interfaces, capabilities: { extensions: declared } }),
  );

describe('the agent card that the bridge reads', () => {
  test('the bridge requests the card below the URL first, then at the host, then at the old path', () => {
    expect(agentCardUrls('https://example.com/agents/one')).toEqual([
      'https://example.com/agents/one/.well-known/agent-card.json',
      'https://example.com/.well-known/agent-card.json',
      'https://example.com/agents/one/.well-known/agent.json',
    ]);
    expect(agentCardUrls('https://example.com')).toEqual([
      'https://example.com/.well-known/agent-card.json',
      'https://example.com/.well-known/agent.json',
    ]);
    expect(agentCardUrls('https://example.com/card.json?v=1')).toEqual(['https://example.com/card.json?v=1']);
  });

  test('a card needs only the agent’s address', () => {
    expect(parseAgentCard({ supportedInterfaces: [rpc] })).toEqual({
      name: 'unnamed agent',
      description: '',
      version: '',
      inputModes: [],
      interfaces: [{ url: rpc.url, binding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }],
      streaming: false,
      extensions: [],
      skills: [],
    });
  });

  test.each([
    [null],
    [[]],
    ['card'],
    [{}],
    [{ supportedInterfaces: [] }],
    [{ supportedInterfaces: [{ ...rpc, url: 'file:///etc/passwd' }] }],
    [{ supportedInterfaces: [{ ...rpc, url: 7 }] }],
    [{ supportedInterfaces: [rpc], skills: 'many' }],
  ])('X3 the card %j is refused with an error about the card', (card) => {
    expect(() => parseAgentCard(card)).toThrow(/agent card cannot be used/);
  });

  test('a field that is null is the same as an absent one, as ProtoJSON says', () => {
    const nothing = { description: null, provider: null, skills: null, defaultInputModes: null };
    const card = parseAgentCard({
      ...nothing,
      supportedInterfaces: [{ ...rpc, tenant: null }],
      capabilities: { streaming: null, extensions: null },
    });
    const [extension] = parseAgentCard({
      supportedInterfaces: [rpc],
      capabilities: { extensions: [{ uri: 'urn:x', description: null, required: null }] },
    }).extensions;
    expect(extension).toEqual({ uri: 'urn:x', description: '', required: false });
    expect(card).toEqual(parseAgentCard({ supportedInterfaces: [rpc] }));
  });

  test('the bridge leaves out an interface that has no http URL, such as one of gRPC', () => {
    const others = [
      { ...rpc, url: 'grpc.example.com:443', protocolBinding: 'GRPC' },
      { ...rpc, url: '127.0.0.1:50051', protocolBinding: 'GRPC' },
      { ...rpc, url: 'wss://agent.example.com/a2a', protocolBinding: 'https://example.com/bindings/ws/v1' },
    ];
    const { interfaces } = parseAgentCard({ supportedInterfaces: [...others, rest] });
    expect(interfaces).toMatchObject([{ url: rest.url, binding: 'HTTP+JSON' }]);
    expect(() => parseAgentCard({ supportedInterfaces: others })).toThrow(/http or https/);
  });

  test('A2A 1.0 §8.3.2: the URL of resumable streams has the tenant of its interface', () => {
    expect(cursorsAt([{ ...rest, tenant: 'a/b' }])).toBe('http://127.0.0.1:1/rest/a%2Fb');
  });

  test('S1 the bridge uses cursors only with the extension and an HTTP+JSON interface of 1.0', () => {
    expect(cursorsAt([rpc, rest])).toBe('http://127.0.0.1:1/rest');
    expect(cursorsAt([rpc])).toBeNull();
    expect(cursorsAt([rpc, { ...rest, protocolVersion: '0.3' }])).toBeNull();
    expect(cursorsAt([rpc, rest], [])).toBeNull();
  });
});
