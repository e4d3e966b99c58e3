import type { AppendRequest, Journal } from '../../../a2a-server/journal/journal.ts';
import type { JournalPage } from '../../../a2a-server/journal/journal-page.ts';
import type { JournalEntry } from '../../../a2a-server/task/events.ts';

/** One storage under test. */
export interface JournalStorage {
  /** Opens a journal on the storage. Call it again only after the previous journal is closed. */
  open(clock: () => number): Promise<Journal>;
  /** Runs an SQL statement on the storage, as a person does with another program. All its journals must be closed. */
  execute(sql: string): Promise<void>;
  /** Frees the storage. All its journals must be closed. */
  dispose(): Promise<void>;
}

/** The journal of the current test, on empty storage, with a clock that the test sets. */
export class JournalStage {
  /** The time of the journal's clock, in milliseconds. */
  now = 1_000;
  readonly #clock = (): number => this.now;
  #opened: { storage: JournalStorage; journal: Journal } | undefined;

  get journal(): Journal {
    return this.#open.journal;
  }

  async begin(storage: JournalStorage): Promise<void> {
    this.now = 1_000;
    this.#opened = { storage, journal: await storage.open(this.#clock) };
  }

  async end(): Promise<void> {
    const { storage, journal } = this.#open;
    await journal.close();
    await storage.dispose();
  }

  /** Closes the journal, and opens it again as a new program does. */
  async reopen(): Promise<void> {
    const { storage, journal } = this.#open;
    await journal.close();
    this.#opened = { storage, journal: await storage.open(this.#clock) };
  }

  /** Closes the journal, runs an SQL statement on its storage, and opens it again. */
  async change(sql: string): Promise<void> {
    const { storage, journal } = this.#open;
    await journal.close();
    await storage.execute(sql);
    this.#opened = { storage, journal: await storage.open(this.#clock) };
  }

  async append(request: AppendRequest): Promise<readonly JournalEntry[]> {
    const result = await this.journal.append(request);
    if (result.type !== 'appended') throw new Error(`the test expected to append: ${result.type}`);
    return result.entries;
  }

  everything(taskId: string): Promise<readonly JournalEntry[]> {
    return this.journal.read(taskId, 0, 1_000_000);
  }

  /** The pages after a position, to the end of the journal. */
  async pages(taskId: string, after: number): Promise<JournalPage[]> {
    const page = await this.journal.readPage(taskId, after);
    return page.isLast ? [page] : [page, ...(await this.pages(taskId, page.entries.at(-1)?.seq ?? after))];
  }

  get #open(): { storage: JournalStorage; journal: Journal } {
    if (this.#opened === undefined) throw new Error('no test has begun');
    return this.#opened;
  }
}
