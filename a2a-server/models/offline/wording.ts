/** How the offline model speaks: plainly, of what it is, what it does, and what it did not do. */
import { callsOf, type Misread, type PlannedCall, type Step } from './step.ts';
import { TOOL } from './tool-names.ts';
import type { CallResult } from './unanswered.ts';
import { excerpt } from './words.ts';

/** How much of a result is repeated to the person, in characters. */
const MAX_REPEATED = 10_000;

export const LANGUAGE = `I understand these commands, one per line, or separated by \`;\` or \`then\`:
- create test.md with hello
- write "hello" to test.md
- append "more" to test.md
- replace "old" with "new" in test.md
- edit test.md: replace "a" with "b" and "c" with "d"
- rename test.md to notes.md
- delete test.md
- read test.md
- list files in src
- search for "text" in src/**/*.ts
- run \`npm test\`
- fetch https://example.com/page
- crawl https://example.com for "text" up to 5 pages
- wait 2 seconds
- ask me which colour, with choices red or blue
- say something
and, for anything else, a JSON plan: {"plan": [{"tool": "write-file", "input": {"path": "test.md", "content": "hello"}}]}
Text with \`then\`, \`;\` or line breaks in it goes in quotes.`;

export const WHAT_I_AM =
  'I am the offline model: no language model is at work here, I follow a small fixed set of commands.';

/** What a call does, as the words after `I will`. */
export function describe(call: PlannedCall): string {
  const { path, to, pattern, glob, command, seconds, url, query, question } = call.input;
  const file = typeof path === 'string' ? excerpt(path) : undefined;
  switch (call.tool) {
    case TOOL.write:
      return `write ${file ?? 'a file'}`;
    case TOOL.append:
      return `append to ${file ?? 'a file'}`;
    case TOOL.move:
      return typeof to === 'string' ? `move ${file ?? 'a file'} to ${excerpt(to)}` : 'move a file';
    case TOOL.delete:
      return `delete ${file ?? 'a file'}`;
    case TOOL.edit:
    case TOOL.multiEdit:
      return `edit ${file ?? 'a file'}`;
    case TOOL.read:
      return `read ${file ?? 'a file'}`;
    case TOOL.list:
      return `list ${file ?? 'the workspace'}`;
    case TOOL.search:
      return describeSearch(pattern, glob, file);
    case TOOL.run:
      return typeof command === 'string' ? `run \`${excerpt(command)}\`` : 'run a command';
    case TOOL.fetch:
      return typeof url === 'string' ? `fetch ${excerpt(url)}` : 'fetch a page';
    case TOOL.crawl:
      return typeof url === 'string' && typeof query === 'string'
        ? `crawl ${excerpt(url)} for “${excerpt(query)}”`
        : 'crawl a site';
    case TOOL.wait:
      return typeof seconds === 'number' ? `wait ${seconds} s` : 'wait';
    case TOOL.ask:
      return typeof question === 'string' ? `ask “${excerpt(question)}”` : 'ask a question';
    default:
      return `call ${excerpt(call.tool)}`;
  }
}

function describeSearch(pattern: unknown, glob: unknown, path: string | undefined): string {
  const places = [typeof glob === 'string' ? excerpt(glob) : undefined, path].filter(
    (place) => place !== undefined,
  );
  if (typeof pattern === 'string') return [`search for “${excerpt(pattern)}”`, ...places].join(' in ');
  return places.length === 0 ? 'search the files' : `find ${places.join(' in ')}`;
}

export function announce(step: Step): string {
  return `I will ${callsOf(step).map(describe).join(' and ')}.`;
}

/** A result that was asked for is repeated; of a failure it is said what it was and why. */
export function report(call: PlannedCall, result: CallResult): string {
  const title = describe(call);
  if (wasDenied(result)) return `Denied: ${title}. ${excerpt(result.text, 2_000)}`;
  if (result.isError) return `Failed: ${title}. ${cut(result.text)}`;
  return `${capital(title)}:\n${cut(result.text === '' ? '(nothing)' : result.text)}`;
}

export function wasDenied(result: CallResult): boolean {
  return result.isError && /^The person (?:denied|declined)/.test(result.text);
}

/** Says of each part that was not understood that nothing is done for it; of a whole message, what this model is. */
export function confess(misread: readonly Misread[], nothingElse: boolean): string {
  const parts = misread
    .slice(0, 20)
    .map(({ text, why }) => `I did not understand “${excerpt(text)}”: ${why}.`);
  const more = misread.length > 20 ? [`${misread.length - 20} more parts were not understood.`] : [];
  const effect = nothingElse ? 'So I did nothing.' : 'I do nothing for that.';
  return [...(nothingElse ? [WHAT_I_AM] : []), ...parts, ...more, effect, LANGUAGE].join('\n');
}

/** The parts that were not understood, as items of what was not done. */
export function notUnderstood(misread: readonly Misread[]): string[] {
  return misread.slice(0, 20).map(({ text }) => `“${excerpt(text)}” (not understood)`);
}

/** What came of the calls of a piece of work. */
export interface Tally {
  done: readonly string[];
  /** Ran and did not come to a good end, or were stopped: what they had done by then is not undone. */
  failed: readonly string[];
  /** Never ran. */
  undone: readonly string[];
}

/** The last words of a piece of work that called tools. */
export function summary({ done, failed, undone }: Tally): string {
  const sections = [
    ...(done.length > 0 ? [section('Done', done)] : []),
    ...(failed.length > 0 ? [section('Failed', failed)] : []),
    ...(undone.length > 0 ? [section('Not done', undone)] : []),
  ];
  return [...(done.length + failed.length === 0 ? ['Nothing was done.'] : []), ...sections].join('\n');
}

function section(head: string, items: readonly string[]): string {
  const [only] = items;
  return items.length === 1 && only !== undefined
    ? `${head}: ${only}.`
    : `${head}:\n${items.map((i) => `- ${i}`).join('\n')}`;
}

function cut(text: string): string {
  return text.length <= MAX_REPEATED
    ? text
    : `${text.slice(0, MAX_REPEATED)}\n… (${text.length - MAX_REPEATED} more characters)`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
