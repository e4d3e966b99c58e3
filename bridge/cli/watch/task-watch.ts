/** Prints the events of one task as they arrive. After an interruption, it reconnects. */
import { fetchJournalProblem } from '../../agents/journal-problem.ts';
import { followTask } from '../../agents/follow-task.ts';
import type { Agent } from '../../agents/agent.ts';
import type { ObservedEvent } from '../../dialects/observation.ts';
import { foldObservedEvent, hasSettled, type TaskView } from '../../sessions/session/observed-task.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { LiveTaskText, type ShownPending } from './live-text.ts';

interface WatchedTask {
  agent: Agent;
  taskId: string;
  terminal: Terminal;
  /** The `seq` after which to start. Null starts with the current task. */
  after: number | null;
  pending: ShownPending;
  times?: boolean;
  /** True to print the model's reasoning. */
  thinking?: boolean;
}

/** The interval in milliseconds at which a silent task is checked. */
const QUIET_MS = 10_000;

export class TaskWatch {
  readonly #task: WatchedTask;
  readonly #live: LiveTaskText;
  #after: number | null;
  #view: TaskView | undefined;
  /** The number of events that have arrived. */
  #read = 0;
  /** Why the task makes no progress. Undefined if it makes progress, or if the reason is unknown. */
  #problem: string | undefined;

  constructor(task: WatchedTask) {
    this.#task = task;
    this.#after = task.after;
    this.#live = new LiveTaskText(task.terminal, { pending: task.pending, times: task.times ?? false });
  }

  /**
   * Prints the next events until `isWanted` returns true. Prints at least one event.
   * @throws ProductError if the task cannot be followed
   */
  async until(isWanted: (view: TaskView) => boolean): Promise<TaskView | undefined> {
    const { agent, taskId, terminal, thinking } = this.#task;
    const first = this.#read;
    let seen = first;
    const silenceTimer = setInterval(() => {
      if (this.#read === seen && !terminal.printsJson) void this.#explainSilence();
      seen = this.#read;
    }, QUIET_MS);
    try {
      await followTask({
        agent,
        taskId,
        signal: new AbortController().signal,
        thinking,
        position: () => this.#after,
        enough: () => this.#read > first && this.#view !== undefined && isWanted(this.#view),
        onEvent: (event, { dialect }) => {
          this.#read += 1;
          this.#show(dialect.read(event));
        },
        onCut: ({ message }) => this.#live.note(`The stream was cut, and is opened again: ${message}`),
      });
    } finally {
      clearInterval(silenceTimer);
    }
    return this.#view;
  }

  /** Prints once why a task that works makes no progress, if its agent tells the reason. */
  async #explainSilence(): Promise<void> {
    if (this.#view === undefined || hasSettled(this.#view)) return;
    const { agent } = this.#task;
    const read = this.#read;
    const problem = await fetchJournalProblem(agent);
    // An event may have arrived meanwhile. Then the task is no longer silent.
    if (this.#read !== read) return;
    if (problem !== undefined && problem !== this.#problem) this.#live.note(problem);
    this.#problem = problem;
  }

  /** Prints the agent's text if it was not printed before. */
  end(): void {
    this.#live.end(this.#view);
  }

  #show(observed: ObservedEvent): void {
    const { terminal } = this.#task;
    this.#view = foldObservedEvent(this.#view, observed);
    this.#after = observed.seq ?? this.#after;
    terminal.json(observed);
    if (!terminal.printsJson) this.#live.show(observed, this.#view);
  }
}
