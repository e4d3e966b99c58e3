/** What a person is shown before they decide. Text and nothing else: what an agent writes is never markup here. */
import type { PendingAction } from '../../../shared/client/index.ts';

export function PreviewView({ preview }: Pick<PendingAction, 'preview'>) {
  switch (preview.type) {
    case 'diff':
      return (
        <pre aria-label="Preview">
          {preview.diff.split('\n').map((line, index) => (
            <span key={index} class={line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : ''}>
              {`${line}\n`}
            </span>
          ))}
        </pre>
      );
    case 'command':
      return (
        <>
          <pre aria-label="Preview">{preview.command}</pre>
          <small class="quiet">in {preview.cwd}</small>
        </>
      );
    case 'url':
      return <pre aria-label="Preview">{preview.url}</pre>;
    case 'json':
      return <pre aria-label="Preview">{JSON.stringify(preview.value, null, 2)}</pre>;
    case 'text':
      return <pre aria-label="Preview">{preview.text}</pre>;
    case 'question':
      return <p>{preview.text}</p>;
  }
}
