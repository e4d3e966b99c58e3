import { describe, expect, it } from '@jest/globals';
import { callResultSchema, resultText } from '../../../../a2a-server/mcp-servers/call-result.ts';

function textOf(result: unknown): string {
  return resultText(callResultSchema.parse(result));
}

describe('the result of an MCP tool', () => {
  it('is its text, and its structured content if the text does not contain it', () => {
    const structuredContent = { b: [1, 2], a: 'x' };
    const same = { type: 'text', text: '{"a": "x", "b": [1, 2]}' };
    expect(textOf({ content: [same], structuredContent })).toBe(same.text);
    expect(textOf({ content: [{ type: 'text', text: 'done' }], structuredContent: { a: 1 } })).toBe(
      'done\n{\n  "a": 1\n}',
    );
    expect(textOf({ structuredContent: 3 })).toBe('3');
  });

  it('is never empty', () => {
    for (const result of [{}, { content: [] }, { content: [{ type: 'text', text: ' ' }] }])
      expect(textOf(result)).toBe('[no output]');
  });

  it('describes content that is not text', () => {
    expect(
      textOf({
        content: [
          { type: 'audio', mimeType: 'audio/wav', data: 'AAAAAAA=' },
          { type: 'resource', resource: { uri: 'a:b', blob: 'AAAA' } },
          { type: 'text' },
          null,
        ],
      }).split('\n'),
    ).toEqual([
      '[audio, audio/wav, 5 bytes, not shown]',
      '[resource a:b, of an unknown type, 3 bytes, not shown]',
      '[content of an unknown type]',
      '[content of an unknown type]',
    ]);
  });
});
