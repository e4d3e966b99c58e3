/**
 * Decides which files of a conversation a model gets. A sentence replaces each other file. Pure.
 *
 * The decision on a file depends only on the model and on the earlier files. So a later request repeats the decision,
 * and the prefix of the prompt stays the same.
 */
import type { ConversationStep } from './conversation.ts';
import type { StoredFile } from './stored-file.ts';

/** A file with the task whose journal has its content. */
export interface ConversationFile extends StoredFile {
  taskId: string;
}

/**
 * The maximum size of all files of a request, in bytes. Google refuses a request of more than 20 MB, and base64 makes
 * four bytes of three.
 */
const MAX_BYTES = 14_000_000;

/** An image costs up to about 1,600 tokens at Anthropic, and fewer at OpenAI and Google. */
const IMAGE_TOKENS = 1_600;
/**
 * A page of a PDF costs 1,500 to 3,000 tokens at Anthropic. The estimate is one page for each 25 kB, and at most 100
 * pages.
 */
const PAGE_TOKENS = 2_500;
const PAGE_BYTES = 25_000;
const MAX_PAGES = 100;

/** Estimates the tokens of a file. */
export function fileTokens({ mediaType, bytes }: StoredFile): number {
  if (mediaType !== 'application/pdf') return IMAGE_TOKENS;
  return PAGE_TOKENS * Math.min(MAX_PAGES, Math.ceil(bytes / PAGE_BYTES));
}

/** Returns the files of one step. */
export function filesIn(step: ConversationStep): readonly ConversationFile[] {
  if (step.role === 'user') return step.files ?? [];
  return step.role === 'tool' ? step.results.flatMap(({ files = [] }) => files) : [];
}

/** The model of a conversation. `inputModes`: the media types of the files that it takes; the default is none. */
interface FileReader {
  model: string;
  inputModes?: readonly string[] | undefined;
}

/** Replaces the files that the model does not take, and the files after the first 14 MB. */
export function filesForModel(
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

/** Replaces all files, after the provider has refused them. */
export function withoutFiles(steps: readonly ConversationStep[]): ConversationStep[] {
  return withNotes(
    steps,
    (file) =>
      `[You do not see ${nameOf(file)}: the provider refused the files of this request. Tell the person, who can start a new session without the damaged file.]`,
  );
}

/** @param noteFor returns the sentence for a file to replace; undefined keeps the file */
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
