/** Collects the updates of an execution, so that a test can wait for them. */
import type { Progress } from '../../../../shared/client/core/progress.ts';

export class Watched {
  readonly told: Progress[] = [];
  readonly #waiting = new Set<() => void>();

  /** Pass it as `onProgress`. */
  readonly see = (progress: Progress): void => {
    this.told.push(progress);
    for (const look of this.#waiting) look();
  };

  /** Resolves with the first matching update. */
  until<T>(fits: (progress: Progress) => T | undefined): Promise<T> {
    return new Promise((resolve) => {
      const look = (): void => {
        for (const progress of this.told) {
          const found = fits(progress);
          if (found === undefined) continue;
          this.#waiting.delete(look);
          resolve(found);
          return;
        }
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** Resolves with the id of the tool execution that printed this text. */
  output(text: string): Promise<string> {
    return this.until((progress) =>
      progress.type === 'activity' &&
      progress.activity.type === 'tool.output' &&
      progress.activity.text.includes(text)
        ? progress.activity.toolId
        : undefined,
    );
  }

  /** Resolves with the first report of a task in this state. */
  state(state: string) {
    return this.until((progress) =>
      progress.type === 'state' && progress.report.state === state ? progress.report : undefined,
    );
  }

  /** Resolves with the first report in which a tool runs. */
  running() {
    return this.until((progress) =>
      progress.type === 'state' && progress.report.tools.length > 0 ? progress.report : undefined,
    );
  }

  /** Resolves with the first report in which a call of this tool waits. */
  asking(tool: string) {
    return this.until((progress) =>
      progress.type === 'state' && progress.report.pending.some((each) => each.tool === tool)
        ? progress.report
        : undefined,
    );
  }

  /** Resolves with the first matching note. */
  note(pattern: RegExp): Promise<string> {
    return this.until((progress) =>
      progress.type === 'note' && pattern.test(progress.message) ? progress.message : undefined,
    );
  }

  /** All texts of the agent. */
  get text(): string {
    return this.told.map((progress) => (progress.type === 'text' ? progress.text : '')).join('');
  }

  /** The activities by name. */
  get activities(): string[] {
    return this.told.flatMap((progress) => (progress.type === 'activity' ? [progress.activity.type] : []));
  }
}
