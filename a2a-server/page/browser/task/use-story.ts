/**
 * Reads the story of a task in pages. The task's stream tells the page when the story has more entries, so the page
 * does not poll.
 */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { ClientError } from '../../../../shared/client/index.ts';
import { storyPageSchema } from '../../../../shared/protocol/task-story.ts';
import { readJson, taskPath } from '../page-api.ts';
import { addToStory, NO_STORY, type Story } from './story.ts';

/** The page waits this long between two reads, so that a fast stream causes few reads. In milliseconds. */
const PAUSE_MS = 100;
/** The page waits this long before it repeats a read that has failed. In milliseconds. */
const RETRY_MS = 5_000;

export interface FollowedStory {
  story: Story;
  /** True after the page has read the story to the journal's end once. */
  complete: boolean;
  /** Reads the entries that are new since the last read. */
  readOn: () => void;
}

export function useStory(taskId: string): FollowedStory {
  const [story, setStory] = useState(NO_STORY);
  const [complete, setComplete] = useState(false);
  const newest = useRef(NO_STORY);
  /** The state of the reads. `again` means that an event arrived during the current read. */
  const reading = useRef<'no' | 'once' | 'again'>('no');
  const shown = useRef(true);

  const readOn = useCallback((): void => {
    if (reading.current !== 'no') {
      reading.current = 'again';
      return;
    }
    reading.current = 'once';
    const readAll = async (): Promise<void> => {
      let more = true;
      while (more && shown.current) {
        const path = taskPath(taskId, `story?after=${newest.current.seq}&reasoning=true`);
        const page = await readJson(path, storyPageSchema);
        newest.current = addToStory(newest.current, page);
        ({ more } = page);
      }
      setStory(newest.current);
      setComplete(true);
    };
    const done = (): void => {
      const again = reading.current === 'again';
      reading.current = 'no';
      if (again && shown.current) readOn();
    };
    const retry = (error: unknown): void => {
      // The next event of a running task causes the next read. An ended task has no further event, so a timer repeats
      // the read. The banner of the task's stream already reports the outage.
      if (error instanceof ClientError && error.retryable)
        setTimeout(() => shown.current && readOn(), RETRY_MS);
    };
    void readAll()
      .catch(retry)
      .then(() => setTimeout(done, PAUSE_MS));
  }, [taskId]);

  useEffect(() => {
    shown.current = true;
    readOn();
    return () => {
      shown.current = false;
    };
  }, [readOn]);
  return { story, complete, readOn };
}
