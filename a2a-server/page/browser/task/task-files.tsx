/** Shows the images of a task's messages and tool results. Shows other files by name. */
import { useEffect, useState } from 'preact/hooks';
import { visibleLine } from '../../../../shared/text/visible-text.ts';
import { sendRequest, taskPath } from '../page-api.ts';
import type { TaskFileView } from './task-facts.ts';

const MAX_FILES = 20;

export function TaskFiles({ taskId, files }: { taskId: string; files: readonly TaskFileView[] }) {
  const unique = new Map(files.map((each) => [each.hash, each]));
  return [...unique.values()]
    .slice(-MAX_FILES)
    .map((each) => <FileView key={each.hash} taskId={taskId} file={each} />);
}

function FileView({
  taskId,
  file: { hash, bytes, mediaType, name = 'file' },
}: {
  taskId: string;
  file: TaskFileView;
}) {
  const [url, setUrl] = useState<string>();
  const isImage = mediaType.startsWith('image/');
  useEffect(() => {
    if (!isImage) return undefined;
    let made: string | undefined;
    let current = true;
    const show = async (): Promise<void> => {
      const response = await sendRequest(taskPath(taskId, `files/${encodeURIComponent(hash)}`));
      const content = await response.blob();
      if (!current) return;
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
