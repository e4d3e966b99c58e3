/** Shows the preview of an action as plain text. The page never treats an agent's output as markup. */
import type { PendingAction } from '../../../shared/client/index.ts';
import { visibleLine, visibleLines, visibleText } from '../../../shared/text/visible-text.ts';

export function PreviewView({ preview }: Pick<PendingAction, 'preview'>) {
  switch (preview.type) {
    case 'diff':
      return (
        <pre aria-label="Preview" dir="ltr">
          {visibleLines(preview.diff).map((line, index) => (
            <span key={index} class={line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : ''}>
              {`${line}\n`}
            </span>
          ))}
        </pre>
      );
    case 'command':
      return (
        <>
          <pre aria-label="Preview">{shown(preview.command)}</pre>
          <small class="quiet">in {visibleLine(preview.cwd)}</small>
        </>
      );
    case 'url':
      return <pre aria-label="Preview">{shown(preview.url)}</pre>;
    case 'json':
      return <pre aria-label="Preview">{shown(JSON.stringify(preview.value, null, 2))}</pre>;
    case 'text':
      return <pre aria-label="Preview">{preview.text}</pre>;
    case 'question':
      return <p>{visibleText(preview.text)}</p>;
  }
}

function shown(text: string): string {
  return visibleLines(text).join('\n');
}
