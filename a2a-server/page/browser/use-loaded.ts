import { useEffect } from 'preact/hooks';

interface LoadOptions<T> {
  /** Returns undefined if there is nothing to load. */
  load: () => Promise<T> | undefined;
  onLoaded: (value: T) => void;
  onFailure: (error: unknown) => void;
  inputs: readonly unknown[];
}

/**
 * Loads something when the component appears, and again when one of `inputs` changes. A result that arrives after the
 * next load has begun, or after the component is gone, is ignored.
 */
export function useLoaded<T>({ load, onLoaded, onFailure, inputs }: LoadOptions<T>): void {
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
