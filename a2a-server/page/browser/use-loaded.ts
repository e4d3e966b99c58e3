import { useEffect, useState } from 'preact/hooks';

interface Loaded<T> {
  /** The value of the last load that succeeded. Undefined before the first one. */
  value: T | undefined;
  /** Why the last load failed. Undefined if it succeeded. */
  error: unknown;
}

/**
 * Loads something when the component appears, and again when one of `inputs` changes. A result that arrives after the
 * next load has begun, or after the component is gone, is ignored.
 * @param load returns undefined if there is nothing to load
 */
export function useLoaded<T>(load: () => Promise<T> | undefined, inputs: readonly unknown[]): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ value: undefined, error: undefined });
  useEffect(() => {
    let current = true;
    load()?.then(
      (value) => current && setLoaded({ value, error: undefined }),
      (error: unknown) => current && setLoaded((before) => ({ ...before, error })),
    );
    return () => {
      current = false;
    };
  }, inputs);
  return loaded;
}
