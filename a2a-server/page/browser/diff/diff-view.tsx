/**
 * Shows a change of a file: line numbers, counts, colours, folded lines, and one or two columns. The agent's text is
 * never treated as markup.
 */
import { useContext, useMemo, useState } from 'preact/hooks';
import { countWithNoun } from '../../../../shared/text/one-line.ts';
import { visibleLine, visibleLines } from '../../../../shared/text/visible-text.ts';
import { HighlighterContext, highlightLanguageOf, type HighlightedPiece } from './code-pieces.ts';
import { ColouredText } from './coloured-text.tsx';
import { isolateRightToLeft } from '../isolate-right-to-left.tsx';
import { colouredLines } from './diff-colours.ts';
import { type DiffFold, unchangedLineKeys, withFoldedRows, withAllUnchangedLines } from './diff-context.ts';
import { type DiffRow, parseDiff, sideBySideRows, withBlankRunsJoined } from './diff-rows.ts';
import { storeChoice, readStoredChoice } from '../stored-choice.ts';
import { useKeptFocus } from '../use-kept-focus.ts';

/** The name under which the browser stores whether diffs have one or two columns. */
const COLUMNS = 'diff-columns';

/** The unchanged lines that the person has opened, by name. `last`: the first line of the run that was opened last. */
interface OpenedLines {
  open: ReadonlySet<string | undefined>;
  last: string | undefined;
}
const NOTHING_OPENED: OpenedLines = { open: new Set(), last: undefined };

interface DiffViewProps {
  path: string;
  diff: string;
  /** The new text of the whole file, if known. Then the person can open the lines that the diff leaves out. */
  after?: string | undefined;
  label?: string;
}

export function DiffView({ path, diff, after, label = 'Preview' }: DiffViewProps) {
  const [columns, setColumns] = useState(readStoredChoice(COLUMNS) === 'two' ? 'two' : 'one');
  const [{ open, last }, setOpened] = useState(NOTHING_OPENED);
  const box = useKeptFocus<HTMLElement>();
  // The page renders again for each piece of live output. `useMemo` prevents that a long diff is parsed again each
  // time.
  const read = useMemo(() => parseDiff(diff), [diff]);
  const rows = useMemo(() => {
    const found = read?.rows ?? [];
    return withBlankRunsJoined(after === undefined ? found : withAllUnchangedLines(found, after));
  }, [read, after]);
  const highlight = useContext(HighlighterContext);
  const pieces = useMemo(
    () => colouredLines(rows, (text) => highlight(text, highlightLanguageOf(path))),
    [rows, path, highlight],
  );
  const lines = useMemo(() => {
    const names = unchangedLineKeys(rows);
    const onOpen = (run: readonly DiffRow[]): void => {
      const opened = run.map((row) => names.get(row));
      setOpened((before) => ({ open: new Set([...before.open, ...opened]), last: opened[0] }));
    };
    const isLastOpened = (row: DiffRow): boolean => last !== undefined && names.get(row) === last;
    const show = { pieces, isLastOpened, onOpen };
    const shown = withFoldedRows(rows, (row) => open.has(names.get(row)));
    return columns === 'one'
      ? shown.map((row, index) => oneColumn(row, index, show))
      : sideBySideRows(shown).map((line, index) => twoColumns(line, index, show));
  }, [rows, pieces, open, last, columns]);
  if (read === undefined)
    return (
      <pre aria-label={label} dir="ltr">
        {isolateRightToLeft(visibleLines(diff).join('\n'))}
      </pre>
    );
  const choose = (chosen: 'one' | 'two'): void => {
    storeChoice(COLUMNS, chosen);
    setColumns(chosen);
  };
  return (
    <figure ref={box} class="diff" aria-label={label}>
      <figcaption>
        <span class="path">{isolateRightToLeft(visibleLine(path))}</span>
        <span class="added" title="added lines">
          +{read.added}
        </span>
        <span class="removed" title="removed lines">
          −{read.removed}
        </span>
        <button class="columns" onClick={() => choose(columns === 'one' ? 'two' : 'one')}>
          {columns === 'one' ? 'Side by side' : 'One column'}
        </button>
      </figcaption>
      <div class="lines" dir="ltr" tabIndex={0}>
        <table>
          <tbody>{lines}</tbody>
        </table>
      </div>
    </figure>
  );
}

interface LineOptions {
  pieces: ReadonlyMap<DiffRow, readonly HighlightedPiece[]>;
  /**
   * True for the first of the lines that the person has opened last. This line gets the focus, because the button that
   * opened it is gone.
   */
  isLastOpened: (row: DiffRow) => boolean;
  onOpen: (run: readonly DiffRow[]) => void;
}

function oneColumn(row: DiffRow | DiffFold, index: number, options: LineOptions) {
  if (!('before' in row)) return fullWidthRow(row, index, { ...options, columns: 3 });
  return (
    <tr key={index} class={row.type} tabIndex={options.isLastOpened(row) ? -1 : undefined}>
      <td class="number">{row.before}</td>
      <td class="number">{row.after}</td>
      <td>
        <Line row={row} {...options} />
      </td>
    </tr>
  );
}

function twoColumns(line: ReturnType<typeof sideBySideRows>[number], index: number, options: LineOptions) {
  if ('across' in line) return fullWidthRow(line.across, index, { ...options, columns: 4 });
  return (
    <tr key={index} tabIndex={line.left !== null && options.isLastOpened(line.left) ? -1 : undefined}>
      <Side row={line.left} number="before" {...options} />
      <Side row={line.right} number="after" {...options} />
    </tr>
  );
}

interface SideProps extends LineOptions {
  row: DiffRow | null;
  number: 'before' | 'after';
}

function Side({ row, number, ...options }: SideProps) {
  if (row === null || !('before' in row)) return <td colSpan={2} class="empty" />;
  return (
    <>
      <td class={`number ${row.type}`}>{row[number]}</td>
      <td class={row.type}>
        <Line row={row} {...options} />
      </td>
    </>
  );
}

function Line({ row, pieces }: Pick<LineOptions, 'pieces'> & { row: DiffRow }) {
  const found = pieces.get(row);
  if (found === undefined) return <>{isolateRightToLeft(visibleLines(row.text).join('\n'))}</>;
  return (
    <>
      {row.text.slice(0, 1)}
      <ColouredText pieces={found} />
    </>
  );
}

interface AcrossOptions extends LineOptions {
  columns: number;
}

function fullWidthRow(row: DiffRow | DiffFold, index: number, { columns, onOpen }: AcrossOptions) {
  const skipped = row.type === 'hunk' && row.skipped > 0;
  return (
    <tr key={index} class="across">
      <td colSpan={columns}>
        {row.type !== 'fold' && isolateRightToLeft(visibleLines(row.text).join('\n'))}
        {skipped && <span class="quiet"> {countWithNoun(row.skipped, 'unchanged line')} not shown</span>}
        {row.type === 'fold' && (
          <button class="fold" onClick={() => onOpen(row.rows)}>
            … {countWithNoun(row.rows.length, 'unchanged line')}
          </button>
        )}
      </td>
    </tr>
  );
}
