import { useEffect, useRef, useState } from 'preact/hooks';
import type { RefObject } from 'preact';

interface ActionSeen {
  head: RefObject<HTMLHeadingElement>;
  foot: RefObject<HTMLDivElement>;
  /** True after the first and the last part of the action have both been on the screen. */
  seen: boolean;
}

/**
 * Reports whether a person can have read an action. While the page is hidden, the observer reports nothing, so the
 * action does not count as seen.
 * @param code the `shown` code of the action. A new code means that the person must read the action again
 */
export function useActionSeen(code: string): ActionSeen {
  const head = useRef<HTMLHeadingElement>(null);
  const foot = useRef<HTMLDivElement>(null);
  const [seenCode, setSeenCode] = useState<string>();
  useEffect(() => {
    const left = new Set([head.current, foot.current].filter((element) => element !== null));
    const observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries)
        for (const element of left) if (isIntersecting && element === target) left.delete(element);
      if (left.size > 0) return;
      observer.disconnect();
      setSeenCode(code);
    });
    for (const element of left) observer.observe(element);
    return () => observer.disconnect();
  }, [code]);
  return { head, foot, seen: seenCode === code };
}
