/**
 * Decides which server executes a task. E1: a task has at most one execution. A server claims a task before it executes
 * it, and releases it afterwards.
 *
 * - Each claim has a larger epoch than the claims before. The owner's appends name the epoch, and the journal refuses
 *   them after another claim.
 * - Several servers may use one PostgreSQL database. One server uses an SQLite file, and owns all of its tasks.
 */
import { ProductError } from '../../shared/runtime/errors.ts';
import type { Journal } from './journal.ts';

interface ClaimFacts {
  /** The epoch of the claim. Absent if only one server can use the journal. */
  epoch?: number;
  /**
   * True if an earlier owner may have left unfinished work. False does not prove the opposite: a server that could not
   * open the workspace may have released the task in between. So `nextStep` looks for unfinished work in any case.
   */
  takenOver: boolean;
}

/** The right of this server to execute one task. A lost claim stays lost, so the server must claim the task again. */
export class TaskClaim {
  readonly epoch: number | undefined;
  readonly takenOver: boolean;
  readonly #valid: () => boolean;
  #lost = false;
  #listener: () => void = () => undefined;

  /** @param valid returns false once the server's lease has ended */
  constructor({ epoch, takenOver }: ClaimFacts, valid: () => boolean = () => true) {
    this.epoch = epoch;
    this.takenOver = takenOver;
    this.#valid = valid;
  }

  /** True while this server may write as the owner. */
  get held(): boolean {
    return !this.#lost && this.#valid();
  }

  /** Calls `listener` once when the claim is lost. */
  onLost(listener: () => void): void {
    if (this.#lost) listener();
    else this.#listener = listener;
  }

  lose(): void {
    if (this.#lost) return;
    this.#lost = true;
    this.#listener();
  }
}

interface ClaimedTask {
  taskId: string;
  claim: TaskClaim;
}

/**
 * A working task without a living owner that this server cannot claim: the task has another label, or this server
 * cannot open its workspace.
 */
export interface UnclaimableTask {
  taskId: string;
  workspace: string;
  /** The label of the servers that may execute the task, or null. */
  label: string | null;
}

/** The result of a search for tasks whose owner has died. */
export interface ClaimAbandonedResult {
  claimed: ClaimedTask[];
  unopened: UnclaimableTask[];
}

/** The functions that `Ownership` needs from the server. */
export interface OwnershipCallbacks {
  /** Called regularly, so that this server can claim the tasks of servers that have died. */
  onSearch: () => void;
  /** Called if a task that this server has claimed has ended. Another server may have ended it. */
  ended: (taskId: string) => void;
  /** True if this server can execute tasks in this directory. */
  canOpen: (workspace: string) => Promise<boolean>;
}

/** Claims and releases tasks for this server. */
export interface Ownership {
  /** True if other servers may execute tasks of this journal. */
  readonly shared: boolean;
  /** Returns the milliseconds until this server must stop its work. Undefined if the server needs no lease. */
  leaseMs(): number | undefined;
  /** Starts to claim. Resolves when this server may claim tasks. */
  start(server: OwnershipCallbacks): Promise<void>;
  /**
   * Claims one task. Returns undefined if another server owns it, if this server cannot open its workspace, or if the
   * journal cannot be reached.
   */
  claim(taskId: string): Promise<TaskClaim | undefined>;
  /**
   * Claims submitted and working tasks that no living server owns and whose workspace this server can open, oldest
   * first.
   * @param except tasks that this server does not claim
   */
  claimAbandoned(except: readonly string[]): Promise<ClaimAbandonedResult>;
  /** True if this server has the directories of the task. Servers with the same label have the same directories. */
  isHere(taskId: string): Promise<boolean>;
  /** Gives the claim back. Another server can then claim the task. */
  release(taskId: string, claim: TaskClaim): void;
}

/** Returns the ownership of a journal that one server uses at a time. That server owns every task. */
export function createSingleServerOwnership(journal: Pick<Journal, 'unsettled'>): Ownership {
  return {
    shared: false,
    leaseMs: () => undefined,
    start: async () => undefined,
    claim: async () => new TaskClaim({ takenOver: false }),
    claimAbandoned: async () => {
      const tasks = await journal.unsettled();
      return {
        claimed: tasks.map(({ taskId }) => ({ taskId, claim: new TaskClaim({ takenOver: true }) })),
        unopened: [],
      };
    },
    isHere: async () => true,
    release: () => undefined,
  };
}

/** The claim of an execution was lost: the lease ended, or another server has claimed the task. */
export class OwnershipLostError extends ProductError {
  constructor(taskId: string) {
    super(
      'SHUTTING_DOWN',
      `This server has lost the task ${taskId}, and another server continues it. Try again later.`,
    );
  }
}
