import { describe, expect, it } from '@jest/globals';
import {
  MAX_PAYLOAD_BYTES,
  parseWakePayload,
  wakePayloads,
} from '../../../../../a2a-server/journal/postgres/wake-message.ts';

describe('the payloads of wake-ups', () => {
  it('payloads contain each head once, and each payload is shorter than 8,000 bytes', () => {
    const heads = new Map(Array.from({ length: 1_000 }, (_, index) => [`task "ü" ${index}`, index + 1]));
    const payloads = wakePayloads({ sender: 'server', heads });
    expect(payloads.length).toBeGreaterThan(1);
    for (const payload of payloads) expect(Buffer.byteLength(payload)).toBeLessThanOrEqual(MAX_PAYLOAD_BYTES);
    const parsed = payloads.map((payload) => parseWakePayload(payload));
    expect(parsed.every((message) => message?.sender === 'server')).toBe(true);
    expect(parsed.flatMap((message) => [...(message?.heads ?? [])])).toEqual([...heads]);
  });

  it('a task id that is too long for a payload does not affect the other tasks', () => {
    const heads = new Map([
      ['a', 1],
      ['x'.repeat(MAX_PAYLOAD_BYTES), 2],
      ['b', 3],
    ]);
    expect(wakePayloads({ sender: 'server', heads })).toEqual(['["server",["a",1],["b",3]]']);
    expect(wakePayloads({ sender: 'server', heads: new Map() })).toEqual([]);
  });

  it.each(['', '{', '[]', '{"heads":[]}', '["server",["a",0]]', '["server",["a","1"]]', '["server","a"]'])(
    'X3 a payload of another program is ignored: %s',
    (payload) => expect(parseWakePayload(payload)).toBeUndefined(),
  );
});
