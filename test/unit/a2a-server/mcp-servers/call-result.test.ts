import { describe, expect, it } from '@jest/globals';
import { PDF, PNG } from '../../../support/sample-files.ts';
import { mcpCallResultSchema, mcpResultForModel } from '../../../../a2a-server/mcp-servers/call-result.ts';

function textOf(result: unknown): string {
  return mcpResultForModel(mcpCallResultSchema.parse(result)).text;
}

/** Returns an image of this size in bytes. */
function image(bytes: number): object {
  const data = Buffer.concat([PNG, Buffer.alloc(bytes - PNG.length)]).toString('base64');
  return { type: 'image', mimeType: 'image/png', data };
}

describe('the result of an MCP tool', () => {
  it('the result contains the files that a model can read, with the types that their bytes have', () => {
    const dot = { type: 'image', mimeType: 'image/jpeg', data: PNG.toString('base64') };
    const pdf = { type: 'resource', resource: { uri: 'a:spec', blob: PDF.toString('base64') } };
    const found = mcpResultForModel(mcpCallResultSchema.parse({ content: [dot, pdf] }));
    expect(found.text.split('\n')).toEqual([
      '[file image/png, 70 bytes]',
      '[file a:spec, application/pdf, 69 bytes]',
    ]);
    expect(found.files).toEqual([
      { bytes: PNG, mediaType: 'image/png' },
      { bytes: PDF, mediaType: 'application/pdf', name: 'a:spec' },
    ]);
  });

  it('X3 the result has a note instead of an image that is too large for a model, or of images after 10 MB', () => {
    const found = mcpResultForModel(
      mcpCallResultSchema.parse({ content: [3_932_161, 3_900_000, 3_900_000, 3_900_000].map(image) }),
    );
    expect(found.files).toHaveLength(2);
    expect(found.text.split('\n')[0]).toBe('[image, image/png, 3932161 bytes, not shown]');
    expect(found.text.split('\n')[3]).toBe('[image, image/png, 3900000 bytes, not shown]');
  });

  it('the result contains the text, and the structured content if the text does not contain it', () => {
    const structuredContent = { b: [1, 2], a: 'x' };
    const same = { type: 'text', text: '{"a": "x", "b": [1, 2]}' };
    expect(textOf({ content: [same], structuredContent })).toBe(same.text);
    expect(textOf({ content: [{ type: 'text', text: 'done' }], structuredContent: { a: 1 } })).toBe(
      'done\n{\n  "a": 1\n}',
    );
    expect(textOf({ structuredContent: 3 })).toBe('3');
  });

  it('the result is never empty', () => {
    for (const result of [{}, { content: [] }, { content: [{ type: 'text', text: ' ' }] }])
      expect(textOf(result)).toBe('[no output]');
  });

  it('the result describes content that is not text', () => {
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
