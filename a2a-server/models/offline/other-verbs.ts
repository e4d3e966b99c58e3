/** The verbs beside files: run, wait, ask, say. */
import type { PlannedCall, Step } from './step.ts';
import { TOOL } from './tool-names.ts';
import { literalOf, skip, textOf, Unclear, wordOf, type Words } from './words.ts';

const BEFORE_COMMAND = new Set(['the', 'command', 'shell']);
const BEFORE_TIME = new Set(['for']);
const BEFORE_QUESTION = new Set(['me', 'us']);
const SECONDS: Readonly<Record<string, number>> = {
  ms: 0.001,
  millisecond: 0.001,
  milliseconds: 0.001,
  s: 1,
  sec: 1,
  second: 1,
  seconds: 1,
  m: 60,
  min: 60,
  minute: 60,
  minutes: 60,
};

/** `run COMMAND`: as written; a command with `;` or `then` in it goes in quotes or backticks. */
export function run(words: Words, from: number): PlannedCall | Unclear {
  const at = skip(words, from, BEFORE_COMMAND);
  const command = literalOf(words, words.tokens[at] === undefined ? from : at);
  return command.trim() === ''
    ? new Unclear('the command is missing')
    : { tool: TOOL.run, input: { command } };
}

/** `wait [for] N [seconds]` */
export function wait(words: Words, from: number): PlannedCall | Unclear {
  const rest = words.tokens.slice(skip(words, from, BEFORE_TIME)).map(wordOf);
  const [, amount, unit] = /^(\d{1,9}(?:\.\d{1,6})?) ?([a-z]{0,12})$/.exec(rest.join(' ').slice(0, 50)) ?? [];
  const factor = unit === '' ? 1 : SECONDS[unit ?? '?'];
  if (amount === undefined || factor === undefined)
    return new Unclear('expected a time, e.g. `wait 2 seconds`');
  return { tool: TOOL.wait, input: { seconds: Number((Number(amount) * factor).toFixed(6)) } };
}

/** `ask [me] QUESTION [with choices A, B or C]` */
export function ask(words: Words, from: number): PlannedCall | Unclear {
  const start = skip(words, from, BEFORE_QUESTION);
  const mark = words.tokens.findLastIndex((token, at) => at > start && wordOf(token) === 'choices');
  const end = mark === -1 ? words.tokens.length : mark - (wordOf(words.tokens[mark - 1]) === 'with' ? 1 : 0);
  const text = textOf(words, start, end);
  if (text instanceof Unclear) return text;
  const question = text.replace(/[,:]$/, '');
  if (question === '') return new Unclear('the question is missing');
  if (mark === -1) return { tool: TOOL.ask, input: { question } };
  const labels = labelsIn(words, mark + 1);
  return labels.length === 0
    ? new Unclear('the choices are missing')
    : { tool: TOOL.ask, input: { question, choices: labels.map((label) => ({ label })) } };
}

/** Between commas and `or`; what is quoted is a label as it stands. */
function labelsIn(words: Words, from: number): string[] {
  const labels: string[] = [];
  let label = '';
  const close = (): void => {
    if (label !== '') labels.push(label);
    label = '';
  };
  for (const token of words.tokens.slice(from)) {
    if (wordOf(token) === 'or') close();
    else {
      const text = token.type === 'quoted' ? token.text : token.text.replace(/[,.]$/, '');
      label = label === '' ? text : `${label} ${text}`;
      if (token.type === 'quoted' || text !== token.text) close();
    }
  }
  close();
  return labels;
}

/** `say TEXT` */
export function say(words: Words, from: number): Step | Unclear {
  const text = textOf(words, from);
  if (text instanceof Unclear) return text;
  return text === '' ? new Unclear('what to say is missing') : { type: 'say', text };
}
