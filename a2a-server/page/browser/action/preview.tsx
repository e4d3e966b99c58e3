/** Shows the preview of an action as plain text. The page never treats an agent's output as markup. */
import { Fragment } from 'preact';
import { useContext, useMemo } from 'preact/hooks';
import type { PendingAction } from '../../../../shared/client/index.ts';
import { HighlighterContext } from '../diff/code-pieces.ts';
import { ColouredText } from '../diff/coloured-text.tsx';
import { DiffView } from '../diff/diff-view.tsx';
import { callText } from '../../../../shared/protocol/call-text.ts';
import { isolateRightToLeft } from '../isolate-right-to-left.tsx';
import { proposedFileOf } from '../diff/proposed-file.ts';
import { visibleLine, visibleLines, visibleText } from '../../../../shared/text/visible-text.ts';

export function PreviewView({ action }: { action: PendingAction }) {
  const { preview } = action;
  const file = useMemo(() => proposedFileOf(action), [action]);
  switch (preview.type) {
    case 'diff':
      return <DiffView path={preview.path} diff={preview.diff} after={file?.after} />;
    case 'command':
      return (
        <>
          <Code text={visibleLinesText(preview.command)} language="bash" />
          <small class="quiet">in {isolateRightToLeft(visibleLine(preview.cwd))}</small>
        </>
      );
    case 'url':
      return <pre aria-label="Preview">{isolateRightToLeft(visibleLinesText(preview.url))}</pre>;
    case 'json': {
      const text = callText({ ...action, preview });
      return text === undefined ? (
        <Code text={visibleLinesText(JSON.stringify(preview.value, null, 2))} language="json" />
      ) : (
        <CallLines lines={visibleLines(text)} />
      );
    }
    case 'text':
      return <pre aria-label="Preview">{isolateRightToLeft(preview.text)}</pre>;
    case 'question':
      return <p class="question">{visibleText(preview.text)}</p>;
  }
}

/** Shows each line with an indent after its first row, so a line that wraps never looks like two fields. */
function CallLines({ lines }: { lines: readonly string[] }) {
  return (
    <pre aria-label="Preview">
      {lines.map((line, index) => (
        <Fragment key={index}>
          {index > 0 && '\n'}
          <span class="call-line">{isolateRightToLeft(line)}</span>
        </Fragment>
      ))}
    </pre>
  );
}

interface CodeProps {
  /** The visible text. */
  text: string;
  language: 'bash' | 'json';
}

function Code({ text, language }: CodeProps) {
  const highlight = useContext(HighlighterContext);
  const lines = useMemo(() => highlight(text, language), [text, language, highlight]);
  return (
    <pre aria-label="Preview">
      {lines.map((pieces, index) => (
        <Fragment key={index}>
          {index > 0 && '\n'}
          <ColouredText pieces={pieces} />
        </Fragment>
      ))}
    </pre>
  );
}

function visibleLinesText(text: string): string {
  return visibleLines(text).join('\n');
}
