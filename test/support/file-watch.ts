/** Waits with a file watcher until a file contains a text. */
import { readFileSync, watch } from 'node:fs';
import { dirname } from 'node:path';

/** Resolves with the content of the file when the file contains this text. */
export function untilFileContains(path: string, text: string): Promise<string> {
  return new Promise((resolve) => {
    const watcher = watch(dirname(path), { persistent: false }, () => look());
    const look = (): void => {
      const content = contentOf(path);
      if (!content.includes(text)) return;
      watcher.close();
      resolve(content);
    };
    look();
  });
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
