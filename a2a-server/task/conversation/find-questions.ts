/** Finds the agent's questions: tool calls that ask the person, and sentences of the agent's answers. Pure. */
import { questionOfCall, type Call } from '../snapshot.ts';

/** Matches a fenced code block. A question mark in code does not end a question. */
const CODE_BLOCK = /^```[^\n]*\n[\s\S]*?^```/gmu;
/** Matches the end of a sentence. A dot inside a word is part of a name, e.g. of a file. */
const BOUNDARY = /(?<=[.!?]["')*_]{0,4})\s+|(?<=[。！？])|\n+/u;
/** Matches a question mark of any script, with the quotation and emphasis marks after it. */
const QUESTION_END = /[?？؟]["'”’)*_]{0,4}$/u;

/** Returns the question of a tool call, unless the person answered it. The list has at most one entry. */
export function unansweredQuestionOf(call: Call): string[] {
  const question = questionOfCall(call);
  if (question === undefined) return [];
  const { state } = call;
  if (state.type !== 'settled') return [question.text];
  switch (state.result.type) {
    case 'denied':
      return [`${question.text}${state.result.reason === null ? '' : ` (declined: ${state.result.reason})`}`];
    case 'withdrawn':
    case 'skipped':
      return [question.text];
    case 'answered':
    case 'ran':
    case 'refused':
      return [];
  }
}

/** Returns the sentences of a text that end with a question mark. Leaves out blocks of code. */
export function questionSentences(text: string): string[] {
  return text
    .replaceAll(CODE_BLOCK, '\n')
    .split(BOUNDARY)
    .map((sentence) => sentence.trim().replace(/^[-*•]\s+/u, ''))
    .filter((sentence) => QUESTION_END.test(sentence));
}
