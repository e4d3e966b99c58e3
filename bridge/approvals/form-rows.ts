/**
 * Formats a complete pending action as the few rows that a client shows of a form. Pure.
 *
 * Claude Code (measured with 2.1.330) shows at most four rows of a message. In a window of 80 columns, it cuts a row
 * after 74 columns, and no key shows the rest. D5: a person can approve only what is shown in full. So a longer action
 * gets no such form.
 */
import type { PendingAction, Preview } from '../../shared/protocol/tool-approval.ts';
import { displayWidth, graphemesOf } from '../../shared/text/display-width.ts';
import { textRows } from '../../shared/text/text-rows.ts';
import { visibleLine, visibleLines } from '../../shared/text/visible-text.ts';
import { toolSourceText } from '../../shared/protocol/preview-text.ts';
import { type FileDiff, parseFileDiff } from './parse-file-diff.ts';

export const MAX_FORM_ROWS = 4;
export const FORM_ROW_COLUMNS = 74;
/**
 * The maximum width of a field's title, description or choice, in columns. It is smaller than a row, because the client
 * indents these texts and adds a symbol.
 */
const FIELD_COLUMNS = 60;

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
export const approvalFormRows = oncePerAction((action): readonly string[] | undefined => {
  if (isLong(action)) return undefined;
  const lines = linesOf(action);
  if (lines === undefined) return undefined;
  const rows: string[] = [];
  for (const line of [...warningOf(action), ...lines])
    for (const row of wrapped(line)) {
      if (rows.length === MAX_FORM_ROWS) return undefined;
      rows.push(row);
    }
  return rows;
});

/**
 * Returns the kind and size of the action, in at most two rows. For a form that links to the page with the complete
 * action.
 */
export const actionSummaryRows = oncePerAction((action): readonly string[] => {
  const [row = ''] = wrapped(productLine(clipped(summaryOf(action))));
  return [...warningOf(action).map(({ text }) => text), row];
});

/**
 * Computes a value once for each action. The bridge builds the forms again after each event and each poll, and an action
 * may be as large as an event. For 10 MiB, the computation takes a second.
 */
function oncePerAction<Value>(compute: (action: PendingAction) => Value): (action: PendingAction) => Value {
  const known = new WeakMap<PendingAction, { value: Value }>();
  return (action) => {
    const found = known.get(action) ?? { value: compute(action) };
    known.set(action, found);
    return found.value;
  };
}

/**
 * Returns the rows for text of an agent or a file. Each row has a prefix. Returns undefined if the text needs more than
 * `MAX_FORM_ROWS` rows.
 */
export function untrustedTextRows(text: string): readonly string[] | undefined {
  if (text.length > MAX_PREVIEW_CHARACTERS) return undefined;
  const rows = visibleLines(text).flatMap((line) => [...wrapped({ mark: '│ ', text: line })]);
  return rows.length > MAX_FORM_ROWS ? undefined : rows;
}

/**
 * Splits a sentence of the bridge into rows of a form. The caller has already escaped the untrusted names in the
 * sentence.
 */
export function bridgeTextRows(text: string): readonly string[] {
  return [...wrapped(productLine(text))];
}

/** Cuts a text to one row. A cut row ends in `…`. */
export function clippedFormRow(text: string): string {
  return clipped(text);
}

/** Returns true if a client shows the whole text in one row of a field. */
export function fitsFormField(text: string): boolean {
  return displayWidth(text) <= FIELD_COLUMNS;
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
const FOR_GOOD_WARNING = 'Accept allows this FOR GOOD: the agent does not ask again.';

function warningOf({ reason, source, input }: PendingAction): readonly Line[] {
  const forGood = source.type === 'acp-agent' && input['forGood'] === true;
  return [WARNINGS[reason], forGood ? FOR_GOOD_WARNING : ''].filter((text) => text !== '').map(productLine);
}

function linesOf(action: PendingAction): readonly Line[] | undefined {
  const { preview, tool, source } = action;
  switch (preview.type) {
    case 'diff': {
      const change = parseFileDiff(preview.diff);
      if (change === undefined) return undefined;
      return [
        productLine(fileHead(action, preview.path, change)),
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
        productLine(`in ${visibleLine(preview.cwd)}${from(action)}`),
      ];
    }
    case 'url':
    case 'json': {
      const input = inputOf(preview);
      if (input === undefined) return undefined;
      const head = `Call ${visibleLine(tool)} (${visibleLine(toolSourceText(source))})`;
      return [
        productLine(inWorkspace(action, (place) => `${head}${place}`)),
        ...input.split('\n').map((text): Line => ({ mark: '│ ', text: visible(text) })),
      ];
    }
    case 'question':
      return undefined;
  }
}

/**
 * The marker for a last line without a line feed. Untrusted text cannot imitate it, because the bridge escapes its
 * brackets `⟨ ⟩`.
 */
const NO_LINE_FEED_AT_END = ' ⟨no line feed at the end⟩';

/** Returns the first row for a changed file, such as `Change a.txt in /home/ann/app: +1 −1, line 2`. */
function fileHead(action: PendingAction, path: string, { kind, added, removed, at }: FileDiff): string {
  const verb = { create: 'Create', delete: 'Delete', change: 'Change' }[kind];
  const where = kind === 'change' && at.length > 0 ? `, line ${at.join(', ')}` : '';
  const counts = [
    ...(kind === 'delete' ? [] : [`+${String(added)}`]),
    ...(kind === 'create' ? [] : [`−${String(removed)}`]),
  ];
  return inWorkspace(
    action,
    (place) => `${verb} ${visibleLine(path)}${place}: ${counts.join(' ')}${where}${from(action)}`,
  );
}

/**
 * Adds the workspace to a row. If the row gets too long, leaves out the first directories of the workspace. The last
 * one always stays, because a person knows a workspace by it.
 * @param row returns the row with the place, such as ` in /home/ann/app`, or ''
 */
function inWorkspace({ workspace }: PendingAction, row: (place: string) => string): string {
  if (workspace === undefined) return row('');
  const whole = visibleLine(workspace);
  let shown = row(` in ${whole}`);
  if (displayWidth(shown) <= FORM_ROW_COLUMNS) return shown;
  // The shortest place comes first. So the work ends when a row is too long, however long the path is.
  const starts = [...whole.matchAll(/(?<!^)[\\/](?=[^\\/])/g)].map(({ index }) => index).toReversed();
  for (const [count, start] of starts.entries()) {
    const longer = row(` in …${whole.slice(start)}`);
    if (count > 0 && displayWidth(longer) > FORM_ROW_COLUMNS) break;
    shown = longer;
  }
  return shown;
}

function summaryOf(action: PendingAction): string {
  const { preview, tool, source } = action;
  switch (preview.type) {
    case 'diff': {
      const change = parseFileDiff(preview.diff);
      return change === undefined
        ? inWorkspace(action, (place) => `Change ${visibleLine(preview.path)}${place}${from(action)}`)
        : fileHead(action, preview.path, { ...change, at: [] });
    }
    case 'command': {
      const lines = preview.command.split('\n').length;
      const size = lines > 1 ? `${String(lines)} lines` : `${String(preview.command.length)} characters`;
      return `Run a command of ${size}${from(action)}`;
    }
    case 'question':
      return `A question by ${visibleLine(tool)} (${visibleLine(toolSourceText(source))})`;
    case 'url':
    case 'json':
      return `Call ${visibleLine(tool)} (${visibleLine(toolSourceText(source))})`;
  }
}

/** Returns the source of the tool in parentheses. Returns '' for a built-in tool. */
function from({ source }: PendingAction): string {
  return source.type === 'built-in' ? '' : ` (${visibleLine(toolSourceText(source))})`;
}

function inputOf(preview: Extract<Preview, { type: 'url' | 'json' }>): string | undefined {
  if (preview.type === 'url') return preview.url;
  try {
    return JSON.stringify(preview.value);
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
function wrapped({ mark, text }: Line): Generator<string> {
  // A visible marker replaces each tab, because terminals show tabs with different widths.
  return textRows(mark + text.replaceAll('\t', '⟨tab⟩'), FORM_ROW_COLUMNS);
}

function clipped(text: string): string {
  const [row = '', ...more] = wrapped(productLine(text));
  if (more.length === 0) return text;
  const kept = [...graphemesOf(row)];
  while (displayWidth(kept.join('')) >= FORM_ROW_COLUMNS) kept.pop();
  return `${kept.join('')}…`;
}
