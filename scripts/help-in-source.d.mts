/**
 * Returns the comment at the beginning of a program as plain text. Returns undefined if the program has no such comment,
 * or if it prints its own help.
 */
export function helpInSource(path: string): Promise<string | undefined>;
