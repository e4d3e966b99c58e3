/**
 * Returns a choice that this page stored earlier in the browser. Returns null if there is none, or if the page has no
 * storage.
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
    // A page in a sandbox has no storage. The choice then lasts only as long as the page.
  }
}
