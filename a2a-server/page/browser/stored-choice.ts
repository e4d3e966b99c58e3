/**
 * Returns a choice that the browser stores for later pages. If the page has no storage, the choice lasts only as long
 * as the page.
 */
export function readStoredChoice(name: string): string | null {
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
