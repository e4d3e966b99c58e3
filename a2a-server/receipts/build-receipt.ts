/** Builds the receipt of a task from its journal entries, one at a time. */
import type { Receipt, ReceiptAction, ReceiptRun } from '../../shared/receipt/receipt.ts';
import { addCosts, NO_COST, costsOfEvents } from '../task/costs/cost-sum.ts';
import type {
  Decider,
  FileState,
  JournalEntry,
  MessagePart,
  RecordedPendingAction,
  TaskEvent,
  ToolOutcome,
} from '../task/events.ts';
import { taskStateAfter } from '../task/fold.ts';
import { policyVerdictText } from '../task/policy-verdict-text.ts';
import { firstChainHash, nextChainHash } from './event-chain.ts';

export class ReceiptBuilder {
  readonly #receipt: Omit<Receipt, 'actions' | 'cost'>;
  readonly #actions = new Map<string, ReceiptAction>();
  readonly #runs = new Map<string, ReceiptRun>();
  readonly #models = new Set<string>();
  #model: string | null = null;
  #cost = NO_COST;

  constructor(taskId: string, version: string) {
    this.#receipt = {
      receipt: 1,
      task: {
        taskId,
        sessionId: '',
        principal: '',
        workspace: null,
        createdAt: '',
        state: 'submitted',
        updatedAt: '',
        message: '',
        cancelledBy: null,
      },
      messages: [],
      revocations: [],
      journal: { events: 0, hash: firstChainHash(taskId) },
      server: { version },
    };
  }

  add(entry: JournalEntry): void {
    const { event, at } = entry;
    const { task, journal } = this.#receipt;
    journal.events = entry.seq;
    journal.hash = nextChainHash(journal.hash, entry);
    task.updatedAt = timeOf(at);
    task.state = taskStateAfter([event]) ?? task.state;
    const { costs, openModel } = costsOfEvents([event], this.#model);
    this.#model = openModel;
    for (const { model, cost } of costs) {
      this.#models.add(model);
      this.#cost = addCosts(this.#cost, cost);
    }
    this.#foldEvent(event, timeOf(at));
  }

  /** Returns the receipt of the entries so far. */
  build(): Receipt {
    const { requests, inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens, knownUsd, unpriced } =
      this.#cost;
    const usd = unpriced === 0 ? knownUsd : null;
    const { receipt, task, messages, revocations, journal, server } = this.#receipt;
    return {
      receipt,
      task,
      messages,
      actions: [...this.#actions.values()],
      revocations,
      cost: {
        models: [...this.#models],
        requests,
        inputTokens,
        cachedInputTokens,
        cacheWriteTokens,
        outputTokens,
        usd,
      },
      journal,
      server,
    };
  }

  #foldEvent(event: TaskEvent, at: string): void {
    const { task, messages, revocations } = this.#receipt;
    switch (event.type) {
      case 'task.created': {
        const { workspace = null } = event.settings;
        Object.assign(task, {
          sessionId: event.sessionId,
          principal: event.principal,
          workspace,
          createdAt: at,
        });
        return;
      }
      case 'message.received': {
        const { messageId, parts } = event.message;
        messages.push({ at, messageId, channel: event.channel, text: textOf(parts), files: filesOf(parts) });
        return;
      }
      case 'tool.requested':
      case 'tool.asked': {
        const { callId, tool, title, input, inputHash, sideEffect, source } = event.call;
        const policy =
          event.type === 'tool.asked' ? 'question of a running tool' : policyVerdictText(event.verdict);
        this.#actions.set(callId, {
          callId,
          requestedAt: at,
          tool,
          title,
          input,
          inputHash,
          sideEffect,
          source,
          policy,
          questions: [],
          decisions: [],
          runs: [],
        });
        return;
      }
      case 'input.required': {
        for (const action of event.pending) this.#recordQuestion(action, at);
        return;
      }
      case 'tool.decided': {
        const { callId, by, decision, inputHash, scope, grant = null, reason, answer = null } = event;
        const { edited, presence } = event;
        const action = this.#actions.get(callId);
        const shown = action?.questions.at(-1)?.shown ?? null;
        action?.decisions.push({
          at,
          decision,
          ...deciderOf(by),
          shown,
          inputHash,
          scope,
          grant,
          reason,
          answer,
          edited: edited && { title: edited.title, input: edited.input, inputHash: edited.inputHash },
          ...(presence && { presence }),
        });
        return;
      }
      case 'grant.revoked': {
        revocations.push({ at, grantIds: event.grantIds, ...deciderOf(event.by) });
        return;
      }
      case 'tool.started': {
        const { toolId, callId } = event;
        const run: ReceiptRun = {
          toolId,
          startedAt: at,
          endedAt: null,
          outcome: 'running',
          text: '',
          files: [],
        };
        this.#runs.set(toolId, run);
        this.#actions.get(callId)?.runs.push(run);
        return;
      }
      case 'files.saved': {
        const saved = event.files.map(({ path, before, after }) => ({
          path,
          before: hashOf(before),
          after: hashOf(after),
        }));
        this.#runs.get(event.toolId)?.files.push(...saved);
        return;
      }
      case 'tool.finished': {
        this.#endRun(event.toolId, at, outcomeOf(event.outcome));
        return;
      }
      case 'tool.interrupted': {
        this.#endRun(event.toolId, at, {
          outcome: 'unknown',
          text: 'The server stopped while the tool ran.',
        });
        return;
      }
      case 'task.canceled': {
        Object.assign(task, { message: event.reason, cancelledBy: deciderOf(event.by) });
        return;
      }
      case 'task.completed':
      case 'task.failed':
      case 'task.rejected': {
        task.message = event.message ?? '';
        return;
      }
      // All other events are only in the hash chain.
      case 'abort.requested':
      case 'agent.session':
      case 'artifact.updated':
      case 'auth.required':
      case 'context.clipped':
      case 'context.exceeded':
      case 'context.summarised':
      case 'instructions.read':
      case 'model.unavailable':
      case 'process.orphaned':
      case 'workspace.unavailable':
      case 'task.queued':
      case 'reasoning.delta':
      case 'task.working':
      case 'text.delta':
      case 'todos.updated':
      case 'todos.reminded':
      case 'tool.outdated':
      case 'tool.output':
      case 'tool.withdrew':
      case 'turn.abandoned':
      case 'turn.finished':
      case 'turn.noted':
      case 'turn.started':
    }
  }

  /**
   * Records a question to the person. A task repeats its pending actions in each `input.required`. Only a new `shown`
   * code is a new question.
   */
  #recordQuestion(asked: RecordedPendingAction, at: string): void {
    const { callId, shown = '', reason, title, preview, expiresAt, presence } = asked;
    const action = this.#actions.get(callId);
    if (action === undefined || action.questions.at(-1)?.shown === shown) return;
    action.questions.push({ at, shown, reason, title, preview, expiresAt, ...(presence && { presence }) });
  }

  #endRun(toolId: string, endedAt: string, end: Pick<ReceiptRun, 'outcome' | 'text'>): void {
    const run = this.#runs.get(toolId);
    if (run !== undefined) Object.assign(run, { endedAt, ...end });
  }
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}

function deciderOf({ principal, channel }: Decider): Decider {
  return { principal, channel };
}

function textOf(parts: readonly MessagePart[]): string {
  return parts
    .flatMap((part) => {
      if (part.type === 'text') return [part.text];
      return part.type === 'data' ? [JSON.stringify(part.data)] : [];
    })
    .join('\n');
}

function filesOf(parts: readonly MessagePart[]): Receipt['messages'][number]['files'] {
  return parts.flatMap((part) => {
    if (part.type !== 'stored-file') return [];
    const { name = '', mediaType, hash } = part.file;
    return [{ name, mediaType, hash }];
  });
}

function outcomeOf(outcome: ToolOutcome): Pick<ReceiptRun, 'outcome' | 'text'> {
  const text = outcome.type === 'ok' ? outcome.summary : outcome.message;
  return { outcome: outcome.type, text };
}

function hashOf(state: FileState): string | null {
  return state.type === 'content' ? state.hash : null;
}
