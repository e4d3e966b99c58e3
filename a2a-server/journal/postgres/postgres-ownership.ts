/**
 * Claims tasks in PostgreSQL for this server. E1: a task has at most one execution.
 *
 * - The renewals of the lease have a connection of their own. So no claim and no commit delays them.
 * - A server may claim a task that has no owner, or whose owner's lease has ended by the clock of the database. The
 *   server must have the task's label, and be able to open the task's workspace.
 * - A server that could not renew its lease loses all claims before the lease ends. Its executions then stop.
 * - All claims use one connection, and its statements run in order. So a task cannot be claimed twice by this server at
 *   the same time.
 */
import type { SqlRow } from '../../../shared/state/sql-row.ts';
import { performance } from 'node:perf_hooks';
import { integerColumn, nullableTextColumn, textColumn } from '../validate-column-values.ts';
import {
  TaskClaim,
  type ClaimAbandonedResult,
  type OwnershipCallbacks,
  type Ownership,
  type UnclaimableTask,
} from '../ownership.ts';
import { DATABASE_TIME, type DatabaseClock } from './database-clock.ts';
import { type DatabaseAddress, openPostgresConnection, type PostgresValue } from './driver.ts';
import { LEASE_RENEWAL_MS, LEASE_MS, leaseWorkDeadline } from './lease.ts';
import { ReconnectingConnection } from './reconnecting-connection.ts';

/** The maximum number of abandoned tasks that a server claims in one search. Other servers can claim the rest. */
const MAX_CLAIMS = 200;

/**
 * The time limit for the locks of a claim, in milliseconds. It is short, because a claim that waits for a commit of
 * the task delays the next claims.
 */
const LOCK_MS = 500;

const RENEW = {
  name: 'renew_lease',
  text:
    "UPDATE nodes SET lease_until = clock_timestamp() + $2 * interval '1 millisecond' WHERE id = $1 RETURNING " +
    DATABASE_TIME,
};
const HAS_LEASE = 'EXISTS (SELECT FROM nodes WHERE id = $1 AND lease_until > clock_timestamp())';
const OWNER_IS_DEAD = 'NOT EXISTS (SELECT FROM nodes WHERE id = owner AND lease_until > clock_timestamp())';
const CLAIM = {
  name: 'claim_task',
  text: `UPDATE tasks SET owner = $1, epoch = tasks.epoch + 1
         FROM (SELECT key, owner FROM tasks
               WHERE task_id = $2 AND label IS NOT DISTINCT FROM $3
                 AND (owner IS NULL OR owner = $1 OR ${OWNER_IS_DEAD})
               FOR UPDATE) AS before
         WHERE tasks.key = before.key AND ${HAS_LEASE}
         RETURNING tasks.epoch, before.owner IS NOT NULL, tasks.workspace`,
};
const ABANDONED = `state IN ('submitted', 'working')
  AND (owner IS NULL OR owner = $1 OR ${OWNER_IS_DEAD}) AND NOT task_id = ANY ($2)`;
/**
 * This query and the next one have no limit. With a limit, tasks whose workspace no server can open would hide later
 * tasks.
 */
const FIND_WORKSPACES = {
  name: 'find_workspaces',
  text: `SELECT DISTINCT workspace FROM tasks
         WHERE ${ABANDONED} AND label IS NOT DISTINCT FROM $3 AND workspace IS NOT NULL`,
};
const FIND_UNOPENED = {
  name: 'find_unopened',
  text: `SELECT task_id, workspace, label FROM tasks
         WHERE ${ABANDONED} AND state = 'working' AND workspace IS NOT NULL
           AND (label IS DISTINCT FROM $3 OR NOT workspace = ANY ($4))
         ORDER BY key`,
};
const CHECK_CLAIMS = {
  name: 'check_claims',
  text: `SELECT task_id, owner IS NOT DISTINCT FROM $1 FROM tasks
         WHERE task_id = ANY ($2)
           AND (owner IS DISTINCT FROM $1 OR state IN ('completed', 'failed', 'canceled', 'rejected'))`,
};
const CLAIM_ABANDONED = {
  name: 'claim_abandoned',
  text: `UPDATE tasks SET owner = $1, epoch = tasks.epoch + 1
         FROM (SELECT key FROM tasks
               WHERE ${ABANDONED} AND label IS NOT DISTINCT FROM $5 AND (workspace IS NULL OR workspace = ANY ($3))
               ORDER BY key LIMIT $4 FOR UPDATE SKIP LOCKED) AS abandoned
         WHERE tasks.key = abandoned.key AND ${HAS_LEASE}
         RETURNING tasks.task_id, tasks.epoch`,
};
const HAS_LABEL = {
  name: 'has_label',
  text: 'SELECT 1 FROM tasks WHERE task_id = $1 AND label IS NOT DISTINCT FROM $2',
};
const RELEASE = {
  name: 'release_task',
  text: 'UPDATE tasks SET owner = NULL WHERE task_id = $2 AND owner = $1 AND epoch = $3',
};

interface PostgresOwnershipOptions {
  /** The id of this server's row in `nodes`. */
  id: string;
  /** The label of this server, or null. */
  label: string | null;
  /** The clock of the database. Each renewal of the lease sets it. */
  clock: DatabaseClock;
  onClaimed: (taskId: string, epoch: number) => void;
  /** Called when the lease could not be renewed in time. The connections of this server may hang then. */
  onLeaseLost: () => void;
}

export class PostgresOwnership implements Ownership {
  readonly shared = true;
  readonly #leaseConnection: ReconnectingConnection;
  readonly #claimConnection: ReconnectingConnection;
  readonly #id: string;
  readonly #label: string | null;
  readonly #clock: DatabaseClock;
  readonly #onClaimed: (taskId: string, epoch: number) => void;
  readonly #onLeaseLost: () => void;
  readonly #claims = new Map<string, TaskClaim>();
  /** The number of unanswered claims by task id. In the database, these tasks may already belong to this server. */
  readonly #claiming = new Map<string, number>();
  #server: OwnershipCallbacks | undefined;
  #workEnd = Number.NEGATIVE_INFINITY;
  #beat: NodeJS.Timeout | undefined;
  #end: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(
    address: DatabaseAddress,
    { id, label, clock, onClaimed, onLeaseLost }: PostgresOwnershipOptions,
  ) {
    this.#leaseConnection = new ReconnectingConnection(() => openPostgresConnection(address));
    this.#claimConnection = new ReconnectingConnection(() =>
      openPostgresConnection(address, (connection) =>
        connection.query({ text: `SET lock_timeout = ${LOCK_MS}` }),
      ),
    );
    this.#id = id;
    this.#label = label;
    this.#clock = clock;
    this.#onClaimed = onClaimed;
    this.#onLeaseLost = onLeaseLost;
  }

  leaseMs(): number {
    return Math.max(0, this.#workEnd - performance.now());
  }

  async start(server: OwnershipCallbacks): Promise<void> {
    this.#server = server;
    await this.#renew();
    const beat = async (): Promise<void> => {
      await this.#renew();
      if (!this.#leased) return;
      server.onSearch();
      // An error of this check is ignored. If the database cannot be reached, the next renewal fails too.
      await this.#checkClaims().catch(() => undefined);
    };
    this.#beat = setInterval(() => void beat(), LEASE_RENEWAL_MS);
  }

  async claim(taskId: string): Promise<TaskClaim | undefined> {
    if (!this.#leased) return undefined;
    this.#claiming.set(taskId, (this.#claiming.get(taskId) ?? 0) + 1);
    try {
      const [row] = await this.#query(CLAIM, [this.#id, taskId, this.#label]);
      if (row === undefined) return undefined;
      const claim = this.#createClaim(taskId, integerColumn(row[0]), row[1] === true);
      const workspace = nullableTextColumn(row[2]);
      if (workspace === null || (await this.#canOpen(workspace))) return claim;
      this.release(taskId, claim);
      return undefined;
    } catch {
      // The claim failed, e.g. because the database cannot be reached. The next search for abandoned tasks tries again.
      return undefined;
    } finally {
      const others = (this.#claiming.get(taskId) ?? 1) - 1;
      if (others > 0) this.#claiming.set(taskId, others);
      else this.#claiming.delete(taskId);
    }
  }

  async claimAbandoned(except: readonly string[]): Promise<ClaimAbandonedResult> {
    if (!this.#leased) return { claimed: [], unopened: [] };
    const connection = await this.#claimConnection.get();
    const known = (): string[] => [...except, ...this.#claims.keys(), ...this.#claiming.keys()];
    const openable: string[] = [];
    for (const row of await connection.query(FIND_WORKSPACES, [this.#id, known(), this.#label])) {
      const workspace = textColumn(row[0]);
      if (await this.#canOpen(workspace)) openable.push(workspace);
    }
    const unopened = (await connection.query(FIND_UNOPENED, [this.#id, known(), this.#label, openable])).map(
      (row): UnclaimableTask => ({
        taskId: textColumn(row[0]),
        workspace: textColumn(row[1]),
        label: nullableTextColumn(row[2]),
      }),
    );
    // `known` contains every task whose claim was sent before this statement.
    const values = [this.#id, known(), openable, MAX_CLAIMS, this.#label];
    const claimed = (await connection.query(CLAIM_ABANDONED, values)).flatMap((row) => {
      const taskId = textColumn(row[0]);
      // A call of `claim` during this query has claimed the task too. That claim has a larger epoch, so it stays.
      if (this.#claims.has(taskId) || this.#claiming.has(taskId)) return [];
      return { taskId, claim: this.#createClaim(taskId, integerColumn(row[1]), true) };
    });
    return { claimed, unopened };
  }

  async isHere(taskId: string): Promise<boolean> {
    return (await this.#query(HAS_LABEL, [taskId, this.#label])).length > 0;
  }

  release(taskId: string, claim: TaskClaim): void {
    if (this.#claims.get(taskId) === claim) this.#claims.delete(taskId);
    if (!claim.held || claim.epoch === undefined) return;
    // If the release fails, this server still owns the task. It claims the task again when the task needs an execution.
    this.#query(RELEASE, [this.#id, taskId, claim.epoch]).catch(() => undefined);
  }

  /** Ends the renewals. The journal then deletes this server's row, so other servers can claim its tasks at once. */
  close(): void {
    this.#closed = true;
    clearInterval(this.#beat);
    clearTimeout(this.#end);
    this.#leaseConnection.close();
    this.#claimConnection.close();
  }

  get #leased(): boolean {
    return performance.now() < this.#workEnd;
  }

  /** Stops the work on tasks that another server has ended or claimed. */
  async #checkClaims(): Promise<void> {
    const claims = new Map(this.#claims);
    if (claims.size === 0) return;
    for (const [id, owned] of await this.#query(CHECK_CLAIMS, [this.#id, [...claims.keys()]])) {
      const taskId = textColumn(id);
      const claim = claims.get(taskId);
      // Skips a claim that this server has released during the query.
      if (claim === undefined || this.#claims.get(taskId) !== claim) continue;
      if (owned === true) this.#server?.ended(taskId);
      else claim.lose();
    }
  }

  async #canOpen(workspace: string): Promise<boolean> {
    return this.#server === undefined || this.#server.canOpen(workspace);
  }

  #createClaim(taskId: string, epoch: number, takenOver: boolean): TaskClaim {
    const claim = new TaskClaim({ epoch, takenOver }, () => this.#leased);
    this.#claims.set(taskId, claim);
    this.#onClaimed(taskId, epoch);
    return claim;
  }

  async #renew(): Promise<void> {
    const sentAt = performance.now();
    try {
      let renewed = false;
      await this.#clock.synchronize(async () => {
        const [row] = await (await this.#leaseConnection.get()).query(RENEW, [this.#id, LEASE_MS]);
        renewed = row !== undefined;
        return row && Number(row[0]);
      });
      if (!renewed || this.#closed) return;
    } catch {
      return;
    }
    this.#workEnd = Math.max(this.#workEnd, leaseWorkDeadline(sentAt));
    clearTimeout(this.#end);
    this.#end = setTimeout(() => this.#loseAllClaims(), Math.max(0, this.#workEnd - performance.now()));
  }

  /** Gives up all claims, because the lease ends soon. */
  #loseAllClaims(): void {
    this.#workEnd = Number.NEGATIVE_INFINITY;
    this.#leaseConnection.drop();
    this.#claimConnection.drop();
    this.#onLeaseLost();
    const claims = [...this.#claims.values()];
    this.#claims.clear();
    for (const claim of claims) claim.lose();
  }

  async #query(
    statement: { name: string; text: string },
    values: readonly PostgresValue[],
  ): Promise<readonly SqlRow[]> {
    return (await this.#claimConnection.get()).query(statement, values);
  }
}
