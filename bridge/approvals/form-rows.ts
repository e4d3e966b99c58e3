/**
 * Formats a complete pending action as the few rows that a client shows of a form. Pure.
 *
 * Claude Code (measured with 2.1.330) shows at most four rows of a message. In a window of 80 columns, it cuts a row
 * after 74 columns, and no key shows the rest. In a narrower window, it cuts a row six columns before the edge. D5: a
 * person can approve only what is shown in full. So a longer action gets no such form.
 */
import type { PendingAction } from '../../shared/protocol/tool-approval.ts';
import { callText } from '../../shared/protocol/call-text.ts';
import { displayWidth, graphemesOf } from '../text/display-width.ts';
import { withDirectionMarks } from '../../shared/text/logical-order.ts';
import { textRows, wordRows } from '../text/text-rows.ts';
import { visibleLine, visibleLines } from '../../shared/text/visible-text.ts';
import { toolSourceText } from '../../shared/protocol/preview-text.ts';
import { type FileDiff, parseFileDiff } from './parse-file-diff.ts';

export const MAX_FORM_ROWS = 4;
/** The width of a row in a window of 80 columns or more, and in a window of unknown width. */
export const FORM_ROW_COLUMNS = 74;
/** A client's window is this many columns wider than a row. */
const WINDOW_MARGIN = 6;
/**
 * A field's title, description or choice is this many columns narrower than a row. The client indents these texts and
 * adds a symbol.
 */
const FIELD_INDENT = 14;

/** The minimum width of a row. It has room for a mark and some text. */
const MIN_ROW_COLUMNS = 10;

/**
 * Returns the width of a form's rows.
 * @param windowColumns the width of the client's window; undefined if it is unknown
 */
export function formRowColumns(windowColumns: number | undefined): number {
  return Math.max(
    MIN_ROW_COLUMNS,
    Math.min(FORM_ROW_COLUMNS, (windowColumns ?? Number.POSITIVE_INFINITY) - WINDOW_MARGIN),
  );
}

/** The maximum length of a preview that is measured, in characters. A longer preview never fits into a form. */
const MAX_PREVIEW_CHARACTERS = 50_000;

/**
 * A line before it is split into rows. `mark` is the prefix of text from an agent or a file. It is '' for the bridge's
 * own text.
 */
interface Line {
  mark: '' | '+ ' | '- ' | '$ ' | '> ' | '│ ';
  text: string;
}

/**
 * Returns the rows of a form: a warning, if there is one, and the complete action. Returns undefined if the action
 * needs more than four rows.
 */
export const approvalFormRows = oncePerAction((action, columns): readonly string[] | undefined => {
  if (isLong(action)) return undefined;
  const rows = fittingRows(action, columns, linesOf(action, columns));
  if (rows !== undefined || action.preview.type !== 'json') return rows;
  // JSON needs fewer rows than one line for each field.
  const json = jsonText(action.preview.value);
  return json === undefined ? undefined : fittingRows(action, columns, callLines(action, columns, json));
});

function fittingRows(
  action: PendingAction,
  columns: number,
  lines: readonly Line[] | undefined,
): readonly string[] | undefined {
  if (lines === undefined) return undefined;
  const rows = warningRows(action, columns);
  for (const line of lines)
    for (const row of wrapped(line, columns)) {
      if (rows.length === MAX_FORM_ROWS) return undefined;
      rows.push(withDirectionMarks(row));
    }
  return rows;
}

/**
 * Returns the warnings about the action, then one row with its kind and size. For a form that links to the page with
 * the complete action.
 */
export const actionSummaryRows = oncePerAction((action, columns): readonly string[] => {
  const [row = ''] = wrapped(productLine(clippedFormRow(summaryOf(action, columns), columns)), columns);
  return [...warningRows(action, columns), withDirectionMarks(row)];
});

/**
 * Adds the number of actions and questions that wait after this one, such as `(then 2 more)`. The number goes into the
 * row that names the workspace or the kind of the action. If that row has no room, adds a new last row. If there is no
 * room for a new row, returns the rows unchanged.
 * @param kind `whole` for the rows of `approvalFormRows`, `summary` for those of `actionSummaryRows`
 * @param limits the width of a row, and how many rows may be used
 */
export function withFollowing(
  { kind, rows }: { kind: 'whole' | 'summary'; rows: readonly string[] },
  { action, following }: { action: PendingAction; following: number },
  { columns, maxRows }: { columns: number; maxRows: number },
): readonly string[] {
  if (following === 0) return rows;
  const more = followingText(following);
  // The directory is in the last row of a command.
  const at =
    kind === 'whole' && action.preview.type === 'command'
      ? rows.length - 1
      : warningRows(action, columns).length;
  const row = `${rows[at] ?? ''} ${more}`;
  if (displayWidth(row) <= columns) return rows.with(at, row);
  return rows.length < maxRows ? [...rows, more] : rows;
}

/**
 * Adds a first row that names the task and its agent, if there is room.
 * @param names `task`: the title of the task, unescaped; absent if the bridge has no other open task. `agent`: the name
 * of the agent; absent if the bridge has only this agent
 */
export function withTaskAndAgent(
  rows: readonly string[],
  { task = '', agent = '' }: { task?: string | undefined; agent?: string | undefined },
  { columns, maxRows }: { columns: number; maxRows: number },
): readonly string[] {
  if ((task === '' && agent === '') || rows.length >= maxRows) return rows;
  const words =
    task === '' ? `Agent: ${agent}` : agent === '' ? `Task: ${task}` : `Task of ${agent}: ${task}`;
  return [withDirectionMarks(clippedFormRow(visibleLine(words), columns)), ...rows];
}

/** Returns the words for further actions and questions, such as `(then 2 more)`. */
export function followingText(following: number): string {
  return `(then ${String(following)} more)`;
}

/**
 * Computes a value once for each action and width. The bridge builds the forms again after each event and each poll, and
 * an action may be as large as an event. For 10 MiB, the computation takes a second.
 */
function oncePerAction<Value>(
  compute: (action: PendingAction, columns: number) => Value,
): (action: PendingAction, columns?: number) => Value {
  const known = new WeakMap<PendingAction, { columns: number; value: Value }>();
  return (action, columns = FORM_ROW_COLUMNS) => {
    const last = known.get(action);
    const found = last?.columns === columns ? last : { columns, value: compute(action, columns) };
    known.set(action, found);
    return found.value;
  };
}

/**
 * Returns the rows for text of an agent or a file. Each row has a prefix. Returns undefined if the text needs more than
 * `MAX_FORM_ROWS` rows.
 */
export function untrustedTextRows(text: string, columns: number): readonly string[] | undefined {
  if (text.length > MAX_PREVIEW_CHARACTERS) return undefined;
  const rows = visibleLines(text).flatMap((line) => [...wrapped({ mark: '│ ', text: line }, columns)]);
  return rows.length > MAX_FORM_ROWS ? undefined : rows;
}

/**
 * Splits a text of the bridge into rows of a form. The text may contain untrusted names, which the caller has already
 * escaped. Every space is kept, because a name may contain several spaces in a row.
 */
export function bridgeTextRows(text: string, columns: number): readonly string[] {
  return [...wrapped(productLine(text), columns)];
}

/** Splits a sentence of the bridge into rows of a form, between two words. */
export function sentenceRows(sentence: string, columns: number): readonly string[] {
  return [...wordRows(sentence, columns)];
}

/** Returns true if a client shows the whole text in one row of a field. */
export function fitsFormField(text: string, columns = FORM_ROW_COLUMNS): boolean {
  return displayWidth(text) <= columns - FIELD_INDENT;
}

const WARNINGS: Readonly<Record<PendingAction['reason'], string>> = {
  approval: '',
  'outcome-unknown': 'It RAN BEFORE, outcome unknown. Accept runs it AGAIN, Decline skips it.',
  'content-changed': 'It CHANGED since it was shown. This is the change now.',
  question: '',
};

/**
 * A warning. Some agents offer only an approval that also covers all later calls of the same kind. Such an approval
 * cannot be revoked.
 */
const FOR_GOOD_WARNING = 'Accept allows it FOR GOOD: the agent asks no more.';

function warningRows({ reason, source, input }: PendingAction, columns: number): string[] {
  const forGood = source.type === 'acp-agent' && input['forGood'] === true;
  return [WARNINGS[reason], forGood ? FOR_GOOD_WARNING : '']
    .filter((text) => text !== '')
    .flatMap((text) => sentenceRows(text, columns));
}

function linesOf(action: PendingAction, columns: number): readonly Line[] | undefined {
  const { preview } = action;
  switch (preview.type) {
    case 'diff': {
      const change = parseFileDiff(preview.diff);
      if (change === undefined) return undefined;
      return [
        productLine(fileHead(action, { ...change, path: preview.path }, columns)),
        ...change.lines.map(({ sign, text, open }): Line => ({
          mark: `${sign} `,
          text: `${visible(text)}${open ? NO_LINE_FEED_AT_END : ''}`,
        })),
      ];
    }
    case 'command': {
      const [first = '', ...rest] = preview.command.split('\n').map(visible);
      return [
        { mark: '$ ', text: first },
        ...rest.map((text): Line => ({ mark: '> ', text })),
        productLine(`in ${visibleLine(preview.cwd)}${toolSourceSuffix(action)}`),
      ];
    }
    case 'url':
      return callLines(action, columns, preview.url);
    case 'json': {
      const text = callText(action) ?? jsonText(preview.value);
      return text === undefined ? undefined : callLines(action, columns, text);
    }
    case 'question':
      return undefined;
  }
}

/** Returns a row that names the tool, then the lines of the call. */
function callLines(action: PendingAction, columns: number, text: string): readonly Line[] {
  const head = `Call ${visibleLine(action.tool)}${toolSourceSuffix(action)}`;
  return [
    productLine(inWorkspace(action, columns, (place) => `${head}${place}`)),
    ...text.split('\n').map((line): Line => ({ mark: '│ ', text: visible(line) })),
  ];
}

/**
 * The marker for a last line without a line feed. Untrusted text cannot imitate the marker, because the bridge escapes
 * the brackets `⟨ ⟩` in such text.
 */
const NO_LINE_FEED_AT_END = ' ⟨no line feed at the end⟩';

/** Returns the first row for a changed file, such as `Change a.txt in /home/ann/app: +1 −1, line 2`. */
function fileHead(
  action: PendingAction,
  { path, kind, added, removed, at }: FileDiff & { path: string },
  columns: number,
): string {
  const verb = { create: 'Create', delete: 'Delete', change: 'Change' }[kind];
  const where = kind === 'change' && at.length > 0 ? `, line ${at.join(', ')}` : '';
  const counts = [
    ...(kind === 'delete' ? [] : [`+${String(added)}`]),
    ...(kind === 'create' ? [] : [`−${String(removed)}`]),
  ];
  return inWorkspace(
    action,
    columns,
    (place) => `${verb} ${visibleLine(path)}${place}: ${counts.join(' ')}${where}${toolSourceSuffix(action)}`,
  );
}

/**
 * Adds the workspace to a row. If the row gets too long, leaves out the first directories of the workspace. The last
 * directory always stays, because a person knows a workspace by its name.
 * @param row returns the row with a text that names the workspace, such as ` in /home/ann/app`, or with ''
 */
function inWorkspace({ workspace }: PendingAction, columns: number, row: (place: string) => string): string {
  if (workspace === undefined) return row('');
  const whole = visibleLine(workspace);
  let shown = row(` in ${whole}`);
  if (displayWidth(shown) <= columns) return shown;
  // The shortest text is tried first. So the loop ends at the first row that is too long, however long the path is.
  const starts = [...whole.matchAll(/(?<!^)[\\/](?=[^\\/])/g)].map(({ index }) => index).toReversed();
  for (const [count, start] of starts.entries()) {
    const longer = row(` in …${whole.slice(start)}`);
    if (count > 0 && displayWidth(longer) > columns) break;
    shown = longer;
  }
  return shown;
}

function summaryOf(action: PendingAction, columns: number): string {
  const { preview, tool, title, source } = action;
  switch (preview.type) {
    case 'diff': {
      const change = parseFileDiff(preview.diff);
      return change === undefined
        ? inWorkspace(
            action,
            columns,
            (place) => `Change ${visibleLine(preview.path)}${place}${toolSourceSuffix(action)}`,
          )
        : fileHead(action, { ...change, path: preview.path, at: [] }, columns);
    }
    case 'command': {
      const lines = preview.command.split('\n').length;
      const size = lines > 1 ? `${String(lines)} lines` : `${String(preview.command.length)} characters`;
      return `Run a command of ${size}${toolSourceSuffix(action)}`;
    }
    case 'question':
      return source.type === 'built-in'
        ? 'A question of the agent'
        : `A question by ${visibleLine(tool)}${toolSourceSuffix(action)}`;
    case 'url':
    case 'json':
      // The title of a call of a built-in tool names what the call changes, such as the directory that is deleted.
      return source.type === 'built-in'
        ? `Call ${visibleLine(tool)}: ${visibleLine(title)}`
        : `Call ${visibleLine(tool)}${toolSourceSuffix(action)}`;
  }
}

/** Returns the source of the tool in parentheses. Returns '' for a built-in tool. */
function toolSourceSuffix({ source }: PendingAction): string {
  return source.type === 'built-in' ? '' : ` (${visibleLine(toolSourceText(source))})`;
}

function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

function isLong({ preview }: PendingAction): boolean {
  switch (preview.type) {
    case 'diff':
      return preview.diff.length > MAX_PREVIEW_CHARACTERS;
    case 'command':
      return preview.command.length > MAX_PREVIEW_CHARACTERS;
    case 'url':
    case 'json':
    case 'question':
      return (JSON.stringify(preview)?.length ?? 0) > MAX_PREVIEW_CHARACTERS;
  }
}

function visible(line: string): string {
  return visibleLines(line).join('\n');
}

function productLine(text: string): Line {
  return { mark: '', text };
}

/** Splits a line into rows that fit the width of a form. */
function wrapped({ mark, text }: Line, columns: number): Generator<string> {
  // A visible marker replaces each tab, because terminals show tabs with different widths.
  return textRows(mark + text.replaceAll('\t', '⟨tab⟩'), columns);
}

/** Cuts a text to one row. A cut row ends in `…`. */
export function clippedFormRow(text: string, columns: number): string {
  const [row = '', ...more] = wrapped(productLine(text), columns);
  if (more.length === 0) return text;
  const kept = [...graphemesOf(row)];
  while (kept.length > 0 && displayWidth(kept.join('')) >= columns) kept.pop();
  return `${kept.join('')}…`;
}
