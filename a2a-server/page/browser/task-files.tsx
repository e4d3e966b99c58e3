/** Shows the images of a task's messages and tool results, and names its other files. */
import { useEffect, useState } from 'preact/hooks';
import * as z from 'zod/mini';
import { TOOL_APPROVAL } from '../../../shared/protocol/extensions.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import { API, signedInFetch } from './sign-in.ts';

const file = z.object({
  hash: z.string(),
  bytes: z.number(),
  mediaType: z.string(),
  name: z.optional(z.string()),
});
type TaskFile = z.infer<typeof file>;
const task = z.object({
  metadata: z.object({ [TOOL_APPROVAL]: z.object({ files: z.optional(z.array(file)) }) }),
});

/** Maximum number of files to show. The page shows the newest files. */
const SHOWN = 20;

async function fetchFiles(taskId: string): Promise<TaskFile[]> {
  const response = await signedInFetch(`${API}/tasks/${encodeURIComponent(taskId)}?historyLength=0`, {
    headers: { 'A2A-Version': '1.0', 'A2A-Extensions': TOOL_APPROVAL },
  });
  if (!response.ok) throw new Error(`The server answered ${response.status}.`);
  const { files = [] } = task.parse(await response.json()).metadata[TOOL_APPROVAL];
  const unique = new Map(files.map((each) => [each.hash, each]));
  return [...unique.values()].slice(-SHOWN);
}

async function fetchContent(taskId: string, hash: string): Promise<Blob | undefined> {
  const address = `${API}/api/tasks/${encodeURIComponent(taskId)}/files/${encodeURIComponent(hash)}`;
  const response = await signedInFetch(address);
  return response.ok ? response.blob() : undefined;
}

/** @param changes a counter; when it changes, the page fetches the list again */
export function TaskFiles({ taskId, changes }: { taskId: string; changes: number }) {
  const [files, setFiles] = useState<readonly TaskFile[]>([]);
  useEffect(() => {
    let current = true;
    void fetchFiles(taskId).then(
      (found) => current && setFiles(found),
      // The next change fetches the list again.
      () => undefined,
    );
    return () => {
      current = false;
    };
  }, [taskId, changes]);
  return files.map((each) => <FileView key={each.hash} taskId={taskId} file={each} />);
}

function FileView({
  taskId,
  file: { hash, bytes, mediaType, name = 'file' },
}: {
  taskId: string;
  file: TaskFile;
}) {
  const [url, setUrl] = useState<string>();
  const isImage = mediaType.startsWith('image/');
  useEffect(() => {
    if (!isImage) return undefined;
    let made: string | undefined;
    let current = true;
    const show = async (): Promise<void> => {
      const content = await fetchContent(taskId, hash);
      if (!current || content === undefined) return;
      made = URL.createObjectURL(content);
      setUrl(made);
    };
    // If the image does not load, its name and size stay visible.
    void show().catch(() => undefined);
    return () => {
      current = false;
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [taskId, hash, isImage]);
  const line = visibleLine(`${name} (${mediaType}, ${bytes} bytes)`);
  return (
    <figure class="file">
      {url !== undefined && <img src={url} alt={line} />}
      <figcaption class="quiet">{line}</figcaption>
    </figure>
  );
}
