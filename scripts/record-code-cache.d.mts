export function recordCodeCache(build: string): Promise<void>;
