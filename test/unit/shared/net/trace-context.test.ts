import { describe, expect, it } from '@jest/globals';
import { parseTraceContext, traceContext, traceIds } from '../../../../shared/net/trace-context.ts';

const ID = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

describe('a trace context', () => {
  it('has the trace id, the span id and the flags, and keeps its state', () => {
    const read = parseTraceContext(`00-${ID}-${SPAN}-01`, 'a=1,b=2');
    expect(read).toEqual({ traceparent: `00-${ID}-${SPAN}-01`, tracestate: 'a=1,b=2' });
    expect(read && traceIds(read)).toEqual({ traceId: ID, spanId: SPAN, flags: 1 });
    expect(read && traceContext(traceIds(read), read.tracestate)).toEqual(read);
  });

  it('of a later version is read as version 00, without its further fields', () => {
    expect(parseTraceContext(`cc-${ID}-${SPAN}-01-more`)).toEqual({ traceparent: `00-${ID}-${SPAN}-01` });
  });

  it.each([
    undefined,
    7,
    '',
    `00-${ID}-${SPAN}`,
    `00-${ID}-${SPAN}-01-more`,
    `ff-${ID}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${ID}-${'0'.repeat(16)}-01`,
    `00-${ID.toUpperCase()}-${SPAN}-01`,
    `00-${ID}-${SPAN}-01\n`,
  ])('is not %j', (text) => {
    expect(parseTraceContext(text)).toBeUndefined();
  });

  it('drops a state that is too long or has characters that no header may have', () => {
    for (const state of ['x'.repeat(513), 'a=1\r\nX: y', 7])
      expect(parseTraceContext(`00-${ID}-${SPAN}-01`, state)).toEqual({ traceparent: `00-${ID}-${SPAN}-01` });
  });
});
