import { describe, expect, it, jest } from '@jest/globals';
import { PDF, PNG } from '../../../support/sample-files.ts';
import {
  mcpServerToolResultSchema,
  mcpResultForModel,
} from '../../../../a2a-server/mcp-servers/call-result.ts';

function textOf(result: unknown): string {
  return mcpResultForModel(mcpServerToolResultSchema.parse(result)).text;
}

/** Returns an image of this size in bytes. */
function image(bytes: number): object {
  const data = Buffer.concat([PNG, Buffer.alloc(bytes - PNG.length)]).toString('base64');
  return { type: 'image', mimeType: 'image/png', data };
}

/** Returns a list in a list, and so on. */
const deep = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

describe('the result of an MCP tool', () => {
  it('the result contains the files that a model can read, with the types that their bytes have', () => {
    const dot = { type: 'image', mimeType: 'image/jpeg', data: PNG.toString('base64') };
    const pdf = { type: 'resource', resource: { uri: 'a:spec', blob: PDF.toString('base64') } };
    const found = mcpResultForModel(mcpServerToolResultSchema.parse({ content: [dot, pdf] }));
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
      mcpServerToolResultSchema.parse({ content: [3_932_161, 3_900_000, 3_900_000, 3_900_000].map(image) }),
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

  it('X3 a result of many blocks is compared once, however large its structured content is', () => {
    const structuredContent = { list: [1, 2, 3] };
    const content = Array.from({ length: 100 }, () => ({ type: 'text', text: '1' }));
    const [parse, stringify] = [jest.spyOn(JSON, 'parse'), jest.spyOn(JSON, 'stringify')];
    try {
      textOf({ content, structuredContent });
      expect(parse.mock.calls.length + stringify.mock.calls.length).toBeLessThan(5);
    } finally {
      parse.mockRestore();
      stringify.mockRestore();
    }
  });

  it('X3 a result of very many blocks shows the first ones and counts the others', () => {
    const rows = Array.from({ length: 20_000 }, () => ({ id: 1 }));
    const lines = textOf({ content: [{ type: 'text', text: 'rows' }, ...rows] }).split('\n');
    expect(lines).toHaveLength(10_001);
    expect(lines[0]).toBe('rows');
    expect(lines.at(-1)).toBe('[10001 further blocks, not shown]');
  });

  it('X3 deep structured content that the text repeats is shown once', () => {
    const structuredContent = deep(3_000);
    const text = JSON.stringify(structuredContent);
    expect(textOf({ content: [{ type: 'text', text }], structuredContent })).toBe(text);
  });

  it('X3 deep structured content is shown without an indentation, and a note replaces content that is too deep', () => {
    expect(textOf({ structuredContent: deep(20) })).toContain('\n');
    expect(textOf({ structuredContent: Array.from({ length: 20 }, () => deep(2_000)) })).toHaveLength(80_021);
    expect(textOf({ structuredContent: deep(1_000_000) })).toBe(
      '[structured content that is nested too deep]',
    );
    const long = Array.from({ length: 60_000 }, () => 1);
    expect(textOf({ structuredContent: long })).toBe(JSON.stringify(long));
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
          // X3: a search for the end of the padding would take minutes.
          { type: 'audio', mimeType: 'audio/wav', data: `${'='.repeat(400_000)}A` },
          { type: 'resource', resource: { uri: 'a:b', blob: 'AAAA' } },
          { type: 'text' },
          null,
        ],
      }).split('\n'),
    ).toEqual([
      '[audio, audio/wav, 5 bytes, not shown]',
      '[audio, audio/wav, 300000 bytes, not shown]',
      '[resource a:b, of an unknown type, 3 bytes, not shown]',
      '[content of an unknown type]',
      '[content of an unknown type]',
    ]);
  });
});
