/** Downloads the signed receipt of a task. A plain link cannot do this, because the server needs the page key. */
import { useState } from 'preact/hooks';
import { errorMessageOf } from '../../../../shared/runtime/errors.ts';
import { sendRequest, taskPath } from '../page-api.ts';

const FORMATS = [
  { name: 'Markdown', accept: 'text/markdown', extension: 'md' },
  { name: 'JSON', accept: 'application/json', extension: 'json' },
] as const;

export function ReceiptLinks({ taskId }: { taskId: string }) {
  const [problem, setProblem] = useState<string>();
  const fail = (error: unknown): void => setProblem(errorMessageOf(error));
  return (
    <span class="receipt">
      Receipt:{' '}
      {FORMATS.map((format) => (
        <button
          key={format.name}
          aria-label={`Receipt as ${format.name}`}
          onClick={() => {
            setProblem(undefined);
            downloadReceipt(taskId, format).catch(fail);
          }}
        >
          {format.name}
        </button>
      ))}
      {problem !== undefined && (
        <span class="problem" role="alert">
          {problem}
        </span>
      )}
    </span>
  );
}

/** Saves the exact bytes of the receipt, because a signature covers them. @throws ClientError */
async function downloadReceipt(
  taskId: string,
  { accept, extension }: (typeof FORMATS)[number],
): Promise<void> {
  const response = await sendRequest(taskPath(taskId, 'receipt'), {
    headers: { Accept: accept },
  });
  const url = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = url;
  link.download = `receipt-${taskId}.${extension}`;
  link.click();
  URL.revokeObjectURL(url);
}
