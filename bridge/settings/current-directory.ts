/** Returns the current directory. Returns undefined if it was deleted after the program had started. */
export function currentDirectory(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}
