/**
 * Parses a message in one of the forms of docs/offline-model.md, or as a JSON plan. Refuses any other message as a
 * whole. Pure and total. X3: the time is linear in the length of the text, so a long text cannot block the process.
 */
import { parseJson } from '../../../shared/text/parse-json.ts';
import { parseJsonPlan, type OfflinePlanCall, type ParsedOfflinePlan } from './offline-plan.ts';

export const MAX_OFFLINE_MESSAGE_CHARS = 1_000_000;

interface MessageForm {
  /** The text of the form in the documentation and in a refusal. */
  form: string;
  verb: string;
  /** Parses the text after the verb. @returns undefined if the text does not match the form */
  read: (rest: string) => OfflinePlanCall | { say: string } | undefined;
}

export const MESSAGE_FORMS: readonly MessageForm[] = [
  { form: 'say X', verb: 'say', read: (rest) => ({ say: withoutQuotes(rest) }) },
  {
    form: 'create F with X',
    verb: 'create',
    read(rest) {
      const { name, after } = leadingName(rest);
      const content = afterWord(after, 'with');
      return content === undefined
        ? undefined
        : toPlanCall('write-file', { path: name, content: withoutQuotes(content) });
    },
  },
  {
    form: 'append X to F',
    verb: 'append',
    read(rest) {
      const at = rest.toLowerCase().lastIndexOf(' to ');
      if (at < 1) return undefined;
      return toPlanCall('append-file', {
        path: withoutQuotes(rest.slice(at + 4)),
        content: withoutQuotes(rest.slice(0, at)),
      });
    },
  },
  {
    form: 'replace "A" with "B" in F',
    verb: 'replace',
    read(rest) {
      const oldText = leadingQuote(rest);
      const newText = leadingQuote(afterWord(oldText?.after, 'with') ?? '');
      const path = afterWord(newText?.after, 'in');
      if (!oldText || !newText || !path) return undefined;
      return toPlanCall('edit-file', {
        path: withoutQuotes(path),
        oldText: oldText.text,
        newText: newText.text,
      });
    },
  },
  { form: 'read F', verb: 'read', read: (rest) => toPlanCall('read-file', { path: withoutQuotes(rest) }) },
  { form: 'list D', verb: 'list', read: (rest) => toPlanCall('list-files', { path: withoutQuotes(rest) }) },
  {
    form: 'delete F',
    verb: 'delete',
    read: (rest) => toPlanCall('delete-file', { path: withoutQuotes(rest) }),
  },
  {
    form: 'run `C`',
    verb: 'run',
    read(rest) {
      const command = /^`([^`]+)`$/.exec(rest)?.[1];
      return command === undefined ? undefined : toPlanCall('run-shell-command', { command });
    },
  },
  {
    form: 'fetch U',
    verb: 'fetch',
    read: (rest) => (/\s/.test(rest) ? undefined : toPlanCall('fetch', { url: rest })),
  },
  {
    form: 'wait N seconds',
    verb: 'wait',
    read(rest) {
      const seconds = /^(\d{1,9}(?:\.\d{1,9})?) seconds?$/i.exec(rest)?.[1];
      return seconds === undefined ? undefined : toPlanCall('wait', { seconds: Number(seconds) });
    },
  },
  {
    form: 'ask me "Q"',
    verb: 'ask',
    read(rest) {
      const question = leadingQuote(afterWord(rest, 'me') ?? '');
      return question?.after === '' ? toPlanCall('ask-person', { question: question.text }) : undefined;
    },
  },
];

/** The replies that only continue the task. They request no step. */
const CONTINUE_REPLIES = new Set(['go on', 'continue', 'yes']);

const FENCE = /^```(?:json)?\n([^]*)\n```$/;

export function parseOfflineMessage(message: string): ParsedOfflinePlan {
  if (message.length > MAX_OFFLINE_MESSAGE_CHARS)
    return { type: 'refused', why: `it is longer than ${MAX_OFFLINE_MESSAGE_CHARS} characters` };
  const text = message.trim();
  if (CONTINUE_REPLIES.has(text.toLowerCase())) return { type: 'steps', steps: [] };
  const json = FENCE.exec(text)?.[1]?.trim() ?? text;
  if (json.startsWith('{')) return parseJsonPlan(json);
  const [, verb = '', rest = ''] = /^(\S{1,20})\s+(\S[^]*)$/.exec(text) ?? [];
  const known = MESSAGE_FORMS.find((form) => form.verb === verb.toLowerCase());
  const read = known?.read(rest);
  if (read === undefined)
    return { type: 'refused', why: known ? `the form is: ${known.form}` : 'no form fits' };
  return {
    type: 'steps',
    form: true,
    steps: ['say' in read ? { type: 'say', text: read.say } : { type: 'call', ...read }],
  };
}

function toPlanCall(tool: string, input: Record<string, unknown>): OfflinePlanCall | undefined {
  const { content: _content, newText: _newText, ...needed } = input;
  return Object.values(needed).includes('') ? undefined : { tool, input };
}

/** If the text starts with `word` and a space, returns the text after both. */
function afterWord(text: string | undefined, word: string): string | undefined {
  const trimmed = text?.trimStart() ?? '';
  const starts =
    trimmed.slice(0, word.length).toLowerCase() === word && /\s/.test(trimmed[word.length] ?? '');
  return starts ? trimmed.slice(word.length).trim() : undefined;
}

/** Reads a file name at the start of the text. The name is one word or a quoted text. */
function leadingName(text: string): { name: string; after: string } {
  const quote = leadingQuote(text);
  if (quote) return { name: quote.text, after: quote.after };
  const end = text.search(/\s/);
  return end === -1 ? { name: text, after: '' } : { name: text.slice(0, end), after: text.slice(end) };
}

/** Reads a text in double quotes at the start of `text`. The quoted text uses JSON escapes. */
function leadingQuote(text: string): { text: string; after: string } | undefined {
  const quoted = /^"(?:[^"\\]|\\[^])*"/.exec(text)?.[0];
  if (quoted === undefined) return undefined;
  // A person may write line feeds and tabs inside the quotes. They are escaped here, because a JSON string must not
  // contain them.
  const value = parseJson(quoted.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t'));
  return typeof value === 'string' ? { text: value, after: text.slice(quoted.length).trim() } : undefined;
}

function withoutQuotes(text: string): string {
  const quote = leadingQuote(text);
  return quote?.after === '' ? quote.text : text;
}
