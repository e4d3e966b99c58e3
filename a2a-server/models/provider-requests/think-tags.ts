/**
 * Converts reasoning that arrives as text to reasoning parts. LM Studio and some other servers of local models send the
 * reasoning between `<think>` and `</think>` at the start of the answer's text.
 *
 * Source: https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/1569
 */
import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';

const OPEN = '<think>';
const CLOSE = '</think>';

export function separateThinking(): TransformStream<LanguageModelV3StreamPart, LanguageModelV3StreamPart> {
  let place: 'start' | 'thinking' | 'after' | 'answer' = 'start';
  /** The text that is not sent yet, because it may be the beginning of a tag. */
  let held = '';

  function* take(id: string, isLast: boolean): Generator<LanguageModelV3StreamPart, void, undefined> {
    if (place === 'start') {
      const text = held.trimStart();
      if (!isLast && text.length < OPEN.length && OPEN.startsWith(text)) return;
      place = text.startsWith(OPEN) ? 'thinking' : 'answer';
      if (place === 'thinking') held = text.slice(OPEN.length);
    }
    if (place === 'thinking') {
      const end = held.indexOf(CLOSE);
      const sent = end === -1 ? held.length - (isLast ? 0 : tagStartLength(held)) : end;
      if (sent > 0) yield { type: 'reasoning-delta', id: OPEN, delta: held.slice(0, sent) };
      held = held.slice(end === -1 ? sent : end + CLOSE.length);
      if (end !== -1) place = 'after';
    }
    if (place === 'after') {
      held = held.trimStart();
      if (held !== '') place = 'answer';
    }
    if (place === 'answer' && held !== '') {
      yield { type: 'text-delta', id, delta: held };
      held = '';
    }
  }

  return new TransformStream({
    transform(part, controller) {
      // `text-start` is dropped here, because the text begins only after the reasoning.
      if (part.type === 'text-start') return;
      if (part.type === 'text-delta') held += part.delta;
      if (part.type === 'text-delta' || part.type === 'text-end')
        for (const each of take(part.id, part.type === 'text-end')) controller.enqueue(each);
      if (part.type !== 'text-delta') controller.enqueue(part);
    },
  });
}

/** Returns the length of the longest suffix of the text that is a prefix of the closing tag. */
function tagStartLength(text: string): number {
  for (let length = Math.min(text.length, CLOSE.length - 1); length > 0; length -= 1)
    if (CLOSE.startsWith(text.slice(-length))) return length;
  return 0;
}
