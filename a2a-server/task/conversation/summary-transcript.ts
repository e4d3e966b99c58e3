import { collapsedLine } from '../../../shared/text/shortened-text.ts';
import type { ConversationStep, ConversationSegment } from './conversation.ts';
import { omitMiddle, omitMiddleBytes } from './omit-middle.ts';

/**
 * The highest length limit of one piece (an answer, an input or a result), in characters. More text hardly improves a
 * summary.
 */
const MAX_PIECE_CHARS = 6_000;
/**
 * When the limit of one piece is at most this number of characters, it is not lowered further. If the text is then
 * still too long, its middle is cut.
 */
const MIN_PIECE_CHARS = 200;

/** Builds a transcript of at most `bytes` bytes of UTF-8. The longest pieces are clipped first. */
export function summaryTranscript(covered: readonly ConversationSegment[], bytes: number): string {
  const steps = covered.flatMap((segment) => segment.steps);
  for (let piece = MAX_PIECE_CHARS; ; piece = Math.floor(piece / 2)) {
    const text = steps.map((step) => stepText(step, piece)).join('\n\n');
    if (Buffer.byteLength(text) <= bytes) return text;
    if (piece <= MIN_PIECE_CHARS) return omitMiddleBytes(text, bytes);
  }
}

function stepText(step: ConversationStep, piece: number): string {
  switch (step.role) {
    case 'user':
      return `PERSON: ${omitMiddle(step.text, piece * 2)}`;
    case 'assistant':
      return [
        `AGENT: ${omitMiddle(step.text, piece)}`,
        ...step.calls.map(
          ({ tool, input }) => `AGENT CALLS ${tool} ${omitMiddle(JSON.stringify(input), piece)}`,
        ),
      ].join('\n');
    case 'tool':
      return step.results
        .map(
          ({ tool, text, isError }) =>
            `${isError ? 'FAILED' : 'RESULT OF'} ${tool}: ${omitMiddle(text, piece)}`,
        )
        .join('\n');
  }
}

const SHOWN_INPUT_CHARS = 160;
const SHOWN_RESULT_CHARS = 200;

/**
 * Lists the previous summary, then the tool calls and their results. If the list is too long, the newest calls stay.
 * @param bytes the maximum length in UTF-8
 */
export function fallbackSummary(covered: readonly ConversationSegment[], bytes: number): string {
  const before = covered.flatMap(({ kind, steps }) => (kind === 'summary' ? steps : [])).map(textOf);
  const lines = covered.flatMap(({ kind, steps }) => (kind === 'turn' ? callLines(steps) : []));
  const head = [
    ...before.map((text) => omitMiddleBytes(text, Math.floor(bytes / 3))),
    'The turns after that do not fit into the context window and could not be summarised. Their calls, oldest first:',
  ].join('\n\n');
  const room = bytes - Buffer.byteLength(head);
  const shown: string[] = [];
  let used = 0;
  for (const line of lines.toReversed()) {
    used += Buffer.byteLength(line) + 1;
    if (used > room) break;
    shown.unshift(line);
  }
  const missing = lines.length - shown.length;
  return [head, ...(missing > 0 ? [`- (${missing} more before these)`] : []), ...shown].join('\n');
}

function textOf(step: ConversationStep): string {
  return step.role === 'tool' ? '' : step.text;
}

function callLines(steps: readonly ConversationStep[]): string[] {
  const results = steps.flatMap((step) => (step.role === 'tool' ? step.results : []));
  const calls = steps.flatMap((step) => (step.role === 'assistant' ? step.calls : []));
  return calls.map(({ tool, input }, index) => {
    const { text = '', isError = false } = results[index] ?? {};
    const outcome = collapsedLine(text, SHOWN_RESULT_CHARS);
    return `- ${tool} ${collapsedLine(JSON.stringify(input), SHOWN_INPUT_CHARS)}: ${isError ? 'failed: ' : ''}${outcome}`;
  });
}
