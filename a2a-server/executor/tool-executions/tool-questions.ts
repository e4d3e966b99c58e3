/**
 * Asks a person the questions of one tool execution. The question is a pending action, so the task waits for the
 * person. E1: the task's only execution continues to run the tool. Any process may append the answer.
 *
 * - E3: a question is durable before a person sees it. An answer is durable before the tool gets it.
 * - E2: a question stays open after the process exits. After the answer, the next process records the tool execution as
 *   interrupted.
 */
import { onAbort, type AbortScope } from '../../../shared/runtime/abort.ts';
import { questionSchema as questionShape, type Question } from '../../../shared/protocol/question.ts';
import { ellipsize } from '../../../shared/text/shortened-text.ts';
import type { Journal } from '../../journal/journal.ts';
import type { RequestedCall, TaskEvent } from '../../task/events.ts';
import { withTaskState, thenParkOrContinue, questionWithdrawn } from '../../task/pending.ts';
import { findCall, isTerminal, type Call, type CallResult, type Snapshot } from '../../task/snapshot.ts';
import type { ToolQuestionOutcome } from '../../tools/tool.ts';
import type { PausableTimeout } from '../abort-scopes/pausable-timeout.ts';
import { inputHash } from '../../../shared/protocol/shown-code.ts';
import type { AbortCause } from '../abort-scopes/abort-cause.ts';
import type { TaskJournal } from '../task-journal/task-journal.ts';

const MAX_TITLE_CHARS = 80;

interface QuestionOptions {
  taskJournal: TaskJournal;
  journal: Pick<Journal, 'watch'>;
  taskId: string;
  call: Call;
  toolId: string;
  scope: AbortScope<AbortCause>;
  /** These time limits pause while the tool waits for a person. */
  timeouts: readonly Pick<PausableTimeout, 'hold'>[];
}

export class ToolQuestions {
  readonly #options: QuestionOptions;
  #waiting = 0;

  constructor(options: QuestionOptions) {
    this.#options = options;
  }

  get waits(): boolean {
    return this.#waiting > 0;
  }

  /**
   * Asks the person and waits without limit.
   * @param options if `signal` aborts, the question is withdrawn. An answer before the abort stays valid.
   * @throws ZodError for an invalid question; AbortError if the tool execution stops, the task ends, or `signal` aborts
   */
  async ask(asked: Question, { signal }: { signal?: AbortSignal } = {}): Promise<ToolQuestionOutcome> {
    const { scope, timeouts } = this.#options;
    const question = questionShape.parse(asked);
    scope.signal.throwIfAborted();
    signal?.throwIfAborted();
    const release = timeouts.map((timeout) => timeout.hold());
    this.#waiting += 1;
    try {
      return await this.#waitForAnswer(await this.#appendQuestion(question), signal);
    } finally {
      this.#waiting -= 1;
      for (const goOn of release) goOn();
    }
  }

  /** Appends the question and returns its call id. Resolves when the question is durable. */
  async #appendQuestion(question: Question): Promise<string> {
    const { taskJournal, taskId, call, toolId, scope } = this.#options;
    let callId = '';
    const put = await taskJournal.change(taskId, (s) => {
      const state = findCall(s, call.callId)?.state;
      if (state?.type !== 'running' || state.toolId !== toolId || isTerminal(s)) return [];
      callId = nextId(s, call.callId);
      const event: TaskEvent = {
        type: 'tool.asked',
        call: questionCall(question, call, callId),
        askedBy: call.callId,
      };
      return thenParkOrContinue(s, [event]);
    });
    if (put?.type !== 'appended') throw this.#stopTool(scope);
    return callId;
  }

  /** Waits for the answer. E5: the journal wakes this function, so it does not poll. */
  async #waitForAnswer(callId: string, signal: AbortSignal | undefined): Promise<ToolQuestionOutcome> {
    const { taskJournal, journal, taskId, scope } = this.#options;
    let woken = true;
    let wake: (() => void) | undefined;
    const wakeUp = (): void => {
      woken = true;
      wake?.();
    };
    const unwatch = journal.watch(taskId, wakeUp);
    const stopListening = onAbort(scope.signal, wakeUp);
    const stopListeningToCaller = signal && onAbort(signal, wakeUp);
    try {
      for (;;) {
        scope.signal.throwIfAborted();
        if (!woken) await new Promise<void>((resolve) => (wake = resolve));
        if (signal?.aborted === true) await this.#withdraw(callId);
        woken = false;
        const snapshot = await taskJournal.load(taskId);
        const state = snapshot && findCall(snapshot, callId)?.state;
        const answer = state?.type === 'settled' ? answerOf(state.result) : undefined;
        if (answer !== undefined) return answer;
        if (snapshot === undefined || isTerminal(snapshot)) throw this.#stopTool(scope);
        if (state?.type === 'settled') throw questionWithdrawnError();
      }
    } finally {
      unwatch();
      stopListening();
      stopListeningToCaller?.();
    }
  }

  async #withdraw(callId: string): Promise<void> {
    await this.#options.taskJournal.change(this.#options.taskId, (s) => {
      const question = findCall(s, callId);
      return question?.state.type === 'waiting' && !isTerminal(s)
        ? withTaskState(s, questionWithdrawn(question))
        : [];
    });
  }

  /** Stops the tool, because the task has ended. */
  #stopTool(scope: AbortScope<AbortCause>): Error {
    scope.abort({
      reason: 'task-cancel',
      message: 'Stopped because the task ended before the answer to its question.',
    });
    return questionWithdrawnError();
  }
}

function questionWithdrawnError(): Error {
  return new DOMException('The question was withdrawn.', 'AbortError');
}

function answerOf(result: CallResult): ToolQuestionOutcome | undefined {
  switch (result.type) {
    case 'answered':
      return { type: 'answered', answer: result.answer, by: result.by };
    case 'denied':
      return { type: 'declined', reason: result.reason };
    case 'withdrawn':
    case 'ran':
    case 'skipped':
    case 'refused':
      return undefined;
  }
}

function nextId({ calls }: Snapshot, callId: string): string {
  const before = Object.values(calls).filter(({ askedBy }) => askedBy === callId).length;
  return `${callId}.q${before + 1}`;
}

function questionCall(question: Question, { tool, source }: Call, callId: string): RequestedCall {
  const [line = ''] = question.text.split('\n');
  const input: Record<string, unknown> = { ...question };
  return {
    callId,
    modelCallId: callId,
    tool,
    title: ellipsize(line, MAX_TITLE_CHARS),
    input,
    inputHash: inputHash(input),
    sideEffect: 'none',
    source,
    preview: { type: 'question', ...question },
    basis: null,
  };
}
