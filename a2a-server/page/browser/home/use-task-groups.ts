/** Keeps the task list up to date while the page is open. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { ClientError } from '../../../../shared/client/index.ts';
import type { TaskGroupName, TaskGroups } from '../../../../shared/protocol/task-groups.ts';
import { errorMessageOf } from '../../../../shared/runtime/errors.ts';
import { isSignedOut } from '../page-api.ts';
import { followTaskChanges } from './follow-task-changes.ts';
import { filterParameters, type PageTaskFilters } from '../task-filters.ts';
import { readGroupPage, readTaskGroups } from './task-groups.ts';
import { keepLoadedTaskPages, addNextTaskPage } from './task-pages.ts';

/**
 * The delay between a change of the filters and the next read, in milliseconds. A person types several letters in this
 * time.
 */
const TYPING_MS = 200;

/** The delay between a failed read and the next one, in milliseconds. */
const RETRY_MS = 5_000;

interface TaskGroupsView {
  /** The task list in groups. Undefined before the server's first answer. */
  groups: TaskGroups | undefined;
  /** The time since which the list is outdated, in milliseconds since 1970. Undefined while the connection works. */
  since: number | undefined;
  problem: string | undefined;
  refresh: () => Promise<void>;
  showMore: (group: TaskGroupName) => Promise<void>;
}

/** The groups from the server, and the query that they answer. */
interface AnsweredQuery {
  query: string;
  groups: TaskGroups;
}

export function useTaskGroups(filters: PageTaskFilters, onSignedOut: () => void): TaskGroupsView {
  const [answer, setAnswer] = useState<AnsweredQuery>();
  const [since, setSince] = useState<number>();
  const [problem, setProblem] = useState<string>();
  const [moreProblem, setMoreProblem] = useState<string>();
  const query = filterParameters(filters).toString();
  /**
   * The arguments of the next read. They are in a ref, so that the stream of changes stays open when the filters
   * change.
   */
  const latest = useRef({ filters, query, answer });
  latest.current = { filters, query, answer };
  /** The request in progress, or null. `again` is true if tasks or filters have changed since its start. */
  const running = useRef<{ again: boolean } | null>(null);

  /**
   * Shows an answer. Also stores it in `latest` at once, because the next request may begin before the page has drawn
   * the answer.
   */
  const take = (next: AnsweredQuery): void => {
    latest.current = { ...latest.current, answer: next };
    setAnswer(next);
  };
  const retry = useRef<ReturnType<typeof setTimeout>>();
  const lost = (): void => {
    setSince((before) => before ?? Date.now());
    // The next read normally follows a message of the stream of changes. After a failed read, the stream may send none, so
    // a timer reads again.
    retry.current ??= setTimeout(() => {
      retry.current = undefined;
      void refresh();
    }, RETRY_MS);
  };
  const fail = (error: unknown, show: (problem: string) => void): void => {
    if (isSignedOut(error)) onSignedOut();
    else if (error instanceof ClientError && error.retryable) lost();
    else show(errorMessageOf(error));
  };

  const refresh = useCallback(async (): Promise<void> => {
    if (running.current !== null) {
      running.current.again = true;
      return;
    }
    const mine = { again: true };
    running.current = mine;
    while (mine.again) {
      mine.again = false;
      const asked = latest.current;
      const known = asked.answer?.query === asked.query ? asked.answer.groups : undefined;
      try {
        const found = await readAll(asked.filters, known);
        const now = latest.current;
        // If "Show more" has added tasks during the request, the answer has fewer tasks than the page, so the list is
        // read again. If the person has changed the filters, the answer is dropped.
        if (now.answer !== asked.answer) mine.again = true;
        else if (now.query === asked.query) take({ query: asked.query, groups: found });
        setSince(undefined);
        setProblem(undefined);
      } catch (error) {
        fail(error, setProblem);
      }
    }
    running.current = null;
  }, []);

  useEffect(() => {
    const stop = followTaskChanges((news) => {
      if (news === 'changed') void refresh();
      else lost();
    });
    const seen = (): void => void (document.visibilityState === 'visible' && refresh());
    document.addEventListener('visibilitychange', seen);
    return () => {
      stop();
      clearTimeout(retry.current);
      document.removeEventListener('visibilitychange', seen);
    };
  }, []);
  useEffect(() => {
    const timer = setTimeout(() => void refresh(), answer === undefined ? 0 : TYPING_MS);
    return () => clearTimeout(timer);
  }, [query]);

  // A problem with the list of the earlier filters does not concern the new list.
  useEffect(() => setMoreProblem(undefined), [query]);

  const showMore = async (group: TaskGroupName): Promise<void> => {
    setMoreProblem(undefined);
    try {
      for (;;) {
        const { answer: asked } = latest.current;
        const token = asked?.groups[group].next;
        if (asked === undefined || asked.query !== query || token === undefined || token === null) return;
        const page = await readGroupPage(group, token, filters);
        // The list has changed during the request, so some of the read tasks may be in another group now. The loop
        // reads the next tasks of the group again.
        if (latest.current.answer !== asked) continue;
        take({ ...asked, groups: { ...asked.groups, [group]: addNextTaskPage(asked.groups[group], page) } });
        return;
      }
    } catch (error) {
      fail(error, setMoreProblem);
    }
  };
  return { groups: answer?.groups, since, problem: problem ?? moreProblem, refresh, showMore };
}

/**
 * Reads the first page of each group. Of waiting and running tasks, also reads as many as the list already shows.
 * Further ended tasks are not read again.
 */
async function readAll(filters: PageTaskFilters, known: TaskGroups | undefined): Promise<TaskGroups> {
  const found = await readTaskGroups(filters);
  for (const group of ['waiting', 'working'] as const) {
    const wanted = known?.[group].tasks.length ?? 0;
    for (let { next } = found[group]; next !== null && found[group].tasks.length < wanted;) {
      found[group] = addNextTaskPage(found[group], await readGroupPage(group, next, filters));
      ({ next } = found[group]);
    }
  }
  return { ...found, ended: keepLoadedTaskPages(found.ended, known?.ended) };
}
