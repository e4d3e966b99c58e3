import { describe, expect, it } from '@jest/globals';
import { paramHeaders, readParamHeaders } from '../../../../a2a-server/mcp-servers/param-headers.ts';

const schema = {
  type: 'object',
  properties: {
    region: { type: 'string', 'x-mcp-header': 'Region' },
    place: { type: 'object', properties: { row: { type: 'integer', 'x-mcp-header': 'Row' } } },
    dry: { type: 'boolean', 'x-mcp-header': 'Dry' },
    query: { type: 'string' },
    // This property only has the name of the annotation. It must not count as one.
    'x-mcp-header': { type: 'string' },
  },
};

const headersOf = (input: Record<string, unknown>): Record<string, string> =>
  paramHeaders(readParamHeaders(schema), input);

describe('headers from the parameters of a tool (MCP 2026-07-28)', () => {
  it('the headers contain strings, integers and booleans, also nested ones, and omit absent or null parameters', () => {
    expect(headersOf({ region: 'us-west1', place: { row: -7 }, dry: false, query: 'q' })).toEqual({
      'Mcp-Param-Region': 'us-west1',
      'Mcp-Param-Row': '-7',
      'Mcp-Param-Dry': 'false',
    });
    expect(headersOf({ region: null, place: 'nowhere' })).toEqual({});
  });

  it.each([
    ['Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?='],
    [' padded ', '=?base64?IHBhZGRlZCA=?='],
    ['line1\nline2', '=?base64?bGluZTEKbGluZTI=?='],
    ['=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?='],
  ])('the headers encode %j as the specification requires', (region, header) => {
    expect(headersOf({ region })).toEqual({ 'Mcp-Param-Region': header });
  });

  it.each([
    [{ properties: { a: { type: 'string', 'x-mcp-header': '' } } }, /not a valid header name/],
    [{ properties: { a: { type: 'string', 'x-mcp-header': 'a\r\nb' } } }, /not a valid header name/],
    [{ properties: { a: { type: 'number', 'x-mcp-header': 'A' } } }, /not an integer/],
    [{ properties: { a: { items: { type: 'string', 'x-mcp-header': 'A' } } } }, /other than a property/],
    [
      {
        properties: {
          a: { type: 'string', 'x-mcp-header': 'A' },
          b: { type: 'string', 'x-mcp-header': 'a' },
        },
      },
      /have the same/,
    ],
  ])('the headers refuse a schema with %j', (wrong, why) => {
    expect(() => readParamHeaders(wrong)).toThrow(why);
  });
});
