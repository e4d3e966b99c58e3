import { useEffect } from 'preact/hooks';

/**
 * Loads something when the component appears, and again when one of `inputs` changes. A result that arrives after the
 * next load has begun, or after the component is gone, is ignored.
 * @param load returns undefined if there is nothing to load
 */
export function useLoaded<T>(
  load: () => Promise<T> | undefined,
  onLoaded: (value: T) => void,
  onFailure: (error: unknown) => void,
  inputs: readonly unknown[],
): void {
  useEffect(() => {
    let current = true;
    load()?.then(
      (value) => current && onLoaded(value),
      (error: unknown) => current && onFailure(error),
    );
    return () => {
      current = false;
    };
  }, inputs);
}
