/**
 * Decides which files of a conversation a model gets. A sentence replaces each file that the model does not get. Pure.
 *
 * The decision on a file depends only on the model and the earlier files. Later requests repeat the decision, so the
 * prompt's prefix stays the same.
 */
import type { ConversationStep } from './conversation.ts';
import type { StoredFile } from '../stored-file.ts';

/** A file of the conversation. `taskId` is the task whose journal has the content. */
export interface ConversationFile extends StoredFile {
  taskId: string;
}

/**
 * The maximum size of all files of a request, in bytes. Google refuses a request of more than 20 MB, and base64 makes
 * 19 MB of 14 MB.
 */
const MAX_BYTES = 14_000_000;

/**
 * The estimated tokens of an image. An image costs up to about 1,600 tokens at Anthropic, and fewer at OpenAI and
 * Google.
 */
const IMAGE_TOKENS = 1_600;
/**
 * The estimated tokens of a PDF page. A page costs 1,500 to 3,000 tokens at Anthropic. The estimate assumes one page
 * for each 25 kB, and at most 100 pages.
 */
const PAGE_TOKENS = 2_500;
const PAGE_BYTES = 25_000;
const MAX_PAGES = 100;

export function fileTokens({ mediaType, bytes }: StoredFile): number {
  if (mediaType !== 'application/pdf') return IMAGE_TOKENS;
  return PAGE_TOKENS * Math.min(MAX_PAGES, Math.ceil(bytes / PAGE_BYTES));
}

/** The lowest cost of an image. A small image costs about 250 tokens at Google and at local models. */
const MIN_IMAGE_TOKENS = 250;
const MIN_PAGE_TOKENS = 1_500;
/** The usual size of a page of a scanned document, in bytes. */
const LARGE_PAGE_BYTES = 250_000;

/**
 * Returns a low estimate of a file's tokens, for the decision to refuse the file. `fileTokens` returns a high estimate.
 */
export function minFileTokens({ mediaType, bytes }: StoredFile): number {
  if (mediaType !== 'application/pdf') return MIN_IMAGE_TOKENS;
  return MIN_PAGE_TOKENS * Math.min(MAX_PAGES, Math.ceil(bytes / LARGE_PAGE_BYTES));
}

export function filesOfStep(step: ConversationStep): readonly ConversationFile[] {
  if (step.role === 'user') return step.files ?? [];
  return step.role === 'tool' ? step.results.flatMap(({ files = [] }) => files) : [];
}

/**
 * The model that gets the conversation. `inputModes` has the media types of the files that it accepts. The default is
 * none.
 */
interface FileReader {
  model: string;
  inputModes?: readonly string[] | undefined;
}

/** Replaces each file that the model does not accept, and each file that no longer fits into the total size. */
export function withAcceptedFiles(
  steps: readonly ConversationStep[],
  { model, inputModes = [] }: FileReader,
): ConversationStep[] {
  let left = MAX_BYTES;
  return withNotes(steps, (file) => {
    if (!inputModes.includes(file.mediaType)) return notTaken(file, model);
    if (file.bytes > left) return tooMuch(file);
    left -= file.bytes;
    return undefined;
  });
}

/** Replaces all files, because the provider has refused them. */
export function withoutFiles(steps: readonly ConversationStep[]): ConversationStep[] {
  return withNotes(
    steps,
    (file) =>
      `[You do not see ${nameOf(file)}: the provider refused the files of this request. Tell the person, who can start a new session without the damaged file.]`,
  );
}

/**
 * Replaces files by sentences.
 * @param noteFor returns the sentence that replaces a file, or undefined to keep the file
 */
function withNotes(
  steps: readonly ConversationStep[],
  noteFor: (file: ConversationFile) => string | undefined,
): ConversationStep[] {
  const select = <Item extends { text: string; files?: readonly ConversationFile[] }>(item: Item): Item => {
    if (item.files === undefined) return item;
    const judged = item.files.map((file) => ({ file, note: noteFor(file) }));
    const notes = judged.flatMap(({ note }) => note ?? []);
    const files = judged.flatMap(({ file, note }) => (note === undefined ? [file] : []));
    return { ...item, text: [item.text, ...notes].join('\n'), files };
  };
  return steps.map((step): ConversationStep => {
    if (step.role === 'user') return select(step);
    if (step.role === 'tool') return { ...step, results: step.results.map(select) };
    return step;
  });
}

function notTaken(file: StoredFile, model: string): string {
  return `[You do not see ${nameOf(file)}: the model ${model} takes no ${file.mediaType}. A task with another model can read it.]`;
}

function tooMuch(file: StoredFile): string {
  return `[You do not see ${nameOf(file)}: the files of this session exceed ${MAX_BYTES / 1e6} MB. A new session can read it.]`;
}

function nameOf({ name }: StoredFile): string {
  return name === undefined ? 'this file' : `the file ${JSON.stringify(name.slice(0, 200))}`;
}
