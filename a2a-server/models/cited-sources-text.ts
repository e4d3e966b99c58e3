/**
 * Lists the web pages and documents that a provider names as sources of an answer. Some models search the web
 * themselves, e.g. Perplexity's models and OpenRouter's `…:online` models. Their text often contains only numbers, e.g.
 * `[1]`. Pure.
 */
import type { LanguageModelV3StreamPart } from '@ai-sdk/provider';

export type CitedSource = Extract<LanguageModelV3StreamPart, { type: 'source' }>;

const MAX_SOURCES = 50;
const MAX_TITLE_CHARS = 200;

/**
 * Returns a text to append to the answer: a numbered list of the documents, and of the pages whose URLs the answer does
 * not contain. The numbers count all sources in the provider's order, so the list may skip numbers. Returns '' if there
 * is nothing to list.
 */
export function citedSourcesText(sources: readonly CitedSource[], answer: string): string {
  const listed = new Map<string, { text: string; inAnswer: boolean }>();
  for (const source of sources) {
    const entry = entryOf(source);
    if (entry === undefined || listed.has(entry.key)) continue;
    listed.set(entry.key, {
      text: entry.text,
      inAnswer: source.sourceType === 'url' && answer.includes(source.url),
    });
  }
  const lines = [...listed.values()]
    .map(({ text, inAnswer }, index) => ({ inAnswer, line: `${index + 1}. ${text}` }))
    .slice(0, MAX_SOURCES)
    .filter(({ inAnswer }) => !inAnswer);
  return lines.length === 0 ? '' : `\n\nSources:\n\n${lines.map(({ line }) => line).join('\n')}\n`;
}

/** Returns the entry for one source. Undefined for a source that has neither a web address nor a name. */
function entryOf(source: CitedSource): { key: string; text: string } | undefined {
  const title = plainLine(source.title);
  if (source.sourceType === 'url')
    return isWebPage(source.url)
      ? { key: source.url, text: `${title === '' ? '' : `${title}: `}${source.url}` }
      : undefined;
  const file = plainLine(source.filename);
  const text = [title, file === '' || file === title ? '' : `(${file})`]
    .filter((part) => part !== '')
    .join(' ');
  return text === '' ? undefined : { key: text, text };
}

/**
 * Returns the text on one line and without brackets. A title is untrusted text, and must not look like another link or
 * list.
 */
function plainLine(text = ''): string {
  const line = text.replaceAll(/[\s[\]<>()]+/g, ' ').trim();
  return line.slice(0, MAX_TITLE_CHARS);
}

function isWebPage(url: string): boolean {
  return /^https?:\/\/\S+$/.test(url) && URL.canParse(url);
}
