/** A choice that the browser keeps for later pages. Where a page may store nothing, it lasts as long as the page. */
export function storedChoice(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function storeChoice(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    // The choice is not stored, because a page in a sandbox has no storage.
  }
}
