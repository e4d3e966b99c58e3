export function draftPrefix(target: string): string;
export function replaceBuild(
  draft: string,
  target: string,
  limits?: { keptMs?: number; keptBytes?: number },
): Promise<void>;
