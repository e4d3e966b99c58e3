/** Parses server-sent events from a body, one at a time (WHATWG HTML §9.2.6). */

export interface SseFrame {
  id: string | undefined;
  event: string | undefined;
  data: string;
}

/** Maximum length of a frame, in characters. */
const MAX_FRAME = 16 * 1024 * 1024;

export async function* sseFrames(body: AsyncIterable<Uint8Array>): AsyncGenerator<SseFrame, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let held = '';
  for await (const bytes of body) {
    held += decoder.decode(bytes, { stream: true });
    const blocks = held.split('\n\n');
    held = blocks.pop() ?? '';
    if (held.length > MAX_FRAME) throw new Error(`a frame is longer than ${MAX_FRAME} characters`);
    for (const block of blocks) {
      const frame = frameOf(block);
      if (frame !== undefined) yield frame;
    }
  }
}

/** @returns undefined for a comment. */
function frameOf(block: string): SseFrame | undefined {
  const fields = block
    .split('\n')
    .filter((line) => !line.startsWith(':'))
    .map((line): [string, string] => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
    });
  const data = fields.filter(([name]) => name === 'data').map(([, value]) => value);
  if (data.length === 0) return undefined;
  const named = new Map(fields);
  return { id: named.get('id'), event: named.get('event'), data: data.join('\n') };
}
