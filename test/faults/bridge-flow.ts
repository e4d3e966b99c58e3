/** A delegation by a person with an MCP client. The person knows only the results of the bridge's tools. */
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { isUnconfirmedDecisionNote } from '../../bridge/approvals/sent-in-time.ts';
import { pendingReasonSchema } from '../../shared/protocol/tool-approval.ts';
import type { ToolResult } from '../integration/bridge/support/raw-client.ts';
import { must } from './findings.ts';
import type { Flow } from './flow.ts';
import type { Random } from './random.ts';
import type { Verdicts } from './verdicts.ts';
import type { Workload } from './workload.ts';

const report = z.object({
  sessionId: z.string(),
  taskId: z.string().nullable().default(null),
  state: z.string(),
  message: z.string(),
  output: z.string(),
  notes: z.array(z.string()),
  pending: z.array(
    z.object({
      callId: z.string(),
      shown: z.string(),
      reason: pendingReasonSchema,
      input: z.record(z.string(), z.unknown()),
    }),
  ),
});
type Report = z.infer<typeof report>;
const sessionList = z.object({
  sessions: z.array(z.object({ sessionId: z.string(), title: z.string() })),
});

/** The longest wait of one call for its task, in seconds. */
const PATIENCE = 20;

/** The time that a person takes to read an error and try again, in milliseconds. */
const PERSON_MS = 300;

/** Calls one tool of the current bridge process. @throws Disconnected if the process ends before it answers */
export type CallTool = (name: string, args: object) => Promise<ToolResult>;

/** The action of the person if a delegation gets no answer. */
type WhenUnanswered = 'look for the session' | 'repeat the call';

export class BridgeFlow implements Flow {
  readonly workload: Workload;
  readonly asks: boolean;
  readonly exact = false;
  readonly accepted: { callId: string; decision: string }[] = [];
  taskId: string | undefined;
  done = false;
  /** The error results so far. After each of them, the person tries again. */
  readonly errors: string[] = [];
  readonly #call: CallTool;
  readonly #workspace: string;
  readonly #random: Random;
  readonly #verdicts: Verdicts;
  readonly #whenUnanswered: WhenUnanswered;
  #tried = false;
  #sessionId: string | undefined;
  #last: Report | undefined;

  constructor(parts: {
    workload: Workload;
    workspace: string;
    random: Random;
    verdicts: Verdicts;
    call: CallTool;
    whenUnanswered?: WhenUnanswered;
  }) {
    this.workload = parts.workload;
    this.#workspace = parts.workspace;
    this.#random = parts.random;
    this.#verdicts = parts.verdicts;
    this.#call = parts.call;
    this.#whenUnanswered = parts.whenUnanswered ?? 'look for the session';
    this.asks = !this.#random.chance(0.15);
  }

  async step(): Promise<void> {
    if (this.#sessionId === undefined) return this.#begin();
    const sessionId = this.#sessionId;
    const last = this.#last;
    // After a broken call, the last known state may be outdated. So the flow forgets it.
    this.#last = undefined;
    if (last === undefined || last.pending.length === 0)
      return this.#take(await this.#call('wait_for_task', { sessionId, waitSeconds: PATIENCE }));
    const chosen = this.#random.chance(0.3) ? last.pending.slice(0, 1) : last.pending;
    const decisions = chosen.map((action) => {
      const verdict = this.#verdicts.on(action);
      const edit = verdict.decision === 'edit' ? { editedInput: verdict.input } : {};
      return { callId: action.callId, shown: action.shown, decision: verdict.decision, ...edit };
    });
    const result = await this.#call('approve_or_deny_pending_action', {
      sessionId,
      decisions,
      waitSeconds: PATIENCE,
    });
    if (
      result.isError !== true &&
      !report.parse(result.structuredContent).notes.some(isUnconfirmedDecisionNote)
    )
      this.accepted.push(...decisions);
    await this.#take(result);
  }

  /** Asks for the same result a second time. @throws Violation if the bridge no longer has the result */
  async collect(): Promise<void> {
    const sessionId = this.#sessionId;
    this.done = false;
    await this.#take(await this.#call('wait_for_task', { sessionId, waitSeconds: PATIENCE }));
    must(this.done, 'the bridge delivered the result once, and does not have it any more');
  }

  get begun(): boolean {
    return this.#sessionId !== undefined;
  }

  /** Delegates the same work again, after the client has the first answer. @returns the id of the new task */
  async delegateAgain(): Promise<string | null> {
    const result = await this.#delegate();
    must(result.isError !== true, 'the client could not delegate the same work again');
    return report.parse(result.structuredContent).taskId;
  }

  async #begin(): Promise<void> {
    if (this.#tried && this.#whenUnanswered === 'look for the session') {
      const listed = await this.#call('list_all_active_sessions', {});
      if (listed.isError === true) return this.#complain(listed);
      const { sessions } = sessionList.parse(listed.structuredContent);
      const mine = sessions.find(({ title }) => title.includes(`${this.workload.name} `));
      if (mine !== undefined) {
        this.#sessionId = mine.sessionId;
        return;
      }
    }
    this.#tried = true;
    await this.#take(await this.#delegate());
  }

  #delegate(): Promise<ToolResult> {
    return this.#call('delegate_task_to_assistant', {
      task: this.workload.text,
      workspace: this.#workspace,
      waitSeconds: PATIENCE,
      ...(!this.asks && { autoExecute: true }),
    });
  }

  async #take(result: ToolResult): Promise<void> {
    if (result.isError === true) return this.#complain(result);
    const told = report.parse(result.structuredContent);
    this.#sessionId = told.sessionId;
    this.#last = told;
    if (told.taskId !== null) this.taskId = told.taskId;
    must(told.state !== 'failed' && told.state !== 'cancelled', `the task ended: ${told.message}`);
    if (told.state !== 'completed') return;
    must(told.output.includes(this.workload.name), `the result is not this task's: ${told.output}`);
    this.done = true;
  }

  async #complain({ content }: ToolResult): Promise<void> {
    this.errors.push(content.map(({ text }) => text).join('\n'));
    must(this.errors.length < 30, () => `the bridge only answers with errors: ${this.errors.at(-1)}`);
    await pause(PERSON_MS);
  }
}
