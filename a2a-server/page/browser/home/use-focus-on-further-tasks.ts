import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/**
 * Moves the focus to the first new task after a press of "Show more". After the press, the button is behind the new
 * tasks, or it is gone. So a person with a keyboard or a screen reader would lose the place in the list.
 * @param group contains the tasks and the button
 * @returns a function to call at the press
 */
export function useFocusOnFurtherTasks(group: RefObject<HTMLElement>): () => void {
  /** The ids of the tasks before the press. Undefined if the person waits for no further tasks. */
  const known = useRef<ReadonlySet<string | undefined>>();
  // The page renders before it changes the document, so this is the focus before the change.
  const onButton = document.activeElement === buttonOf(group);
  useLayoutEffect(() => {
    const { current: before } = known;
    if (before === undefined) return;
    const rows = rowsOf(group);
    const isNew = ({ dataset: { task } }: HTMLElement): boolean => !before.has(task);
    // The list may also change for another reason. Then no new task follows the known ones, the button is still there,
    // and the focus stays.
    const following = rows.slice(rows.findLastIndex((row) => !isNew(row)) + 1);
    const first = following[0] ?? (buttonOf(group) === null ? rows.find(isNew) : undefined);
    if (first === undefined) return;
    known.current = undefined;
    // If the person has moved the focus away from the button, the focus stays there.
    if (!onButton) return;
    first.focus({ preventScroll: true });
    first.scrollIntoView({ block: 'nearest' });
  });
  return () => {
    known.current = new Set(rowsOf(group).map(({ dataset: { task } }) => task));
  };
}

function rowsOf({ current }: RefObject<HTMLElement>): HTMLElement[] {
  return [...(current?.querySelectorAll<HTMLElement>('[data-task]') ?? [])];
}

function buttonOf({ current }: RefObject<HTMLElement>): HTMLElement | null {
  return current?.querySelector<HTMLElement>('button.more') ?? null;
}
