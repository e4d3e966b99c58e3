/** Formats a conversation as text for a model that summarises it. Pure. */
import { truncate } from './truncate.ts';
import type { ConversationStep, Passage } from './conversation.ts';

/** The limits of one answer, input or result, in characters. A longer piece adds little to a summary. */
const LONGEST = 6_000;
const SHORTEST = 200;

/** The transcript in at most `chars` characters. It clips the longest pieces first. If that is not enough, it cuts the middle. */
export function transcript(covered: readonly Passage[], chars: number): string {
  const steps = covered.flatMap((passage) => passage.steps);
  for (let piece = LONGEST; ; piece = Math.floor(piece / 2)) {
    const text = steps.map((step) => written(step, piece)).join('\n\n');
    if (text.length <= chars) return text;
    if (piece <= SHORTEST) return truncate(text, chars);
  }
}

function written(step: ConversationStep, piece: number): string {
  switch (step.role) {
    case 'user':
      return `PERSON: ${truncate(step.text, piece * 2)}`;
    case 'assistant':
      return [
        `AGENT: ${truncate(step.text, piece)}`,
        ...step.calls.map(
          ({ tool, input }) => `AGENT CALLS ${tool} ${truncate(JSON.stringify(input), piece)}`,
        ),
      ].join('\n');
    case 'tool':
      return step.results
        .map(
          ({ tool, text, isError }) =>
            `${isError ? 'FAILED' : 'RESULT OF'} ${tool}: ${truncate(text, piece)}`,
        )
        .join('\n');
  }
}
