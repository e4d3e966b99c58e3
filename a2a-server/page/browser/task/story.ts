/** Folds the events of a task's story into the steps that the page draws. Pure. */
import type { StoryEvent, StoryPage, StoryTodo } from '../../../../shared/protocol/task-story.ts';

/** The page keeps only the last characters of the output of one tool execution. */
const MAX_OUTPUT_CHARS = 20_000;

type EventOf<Type extends StoryEvent['type']> = Extract<StoryEvent, { type: Type }>;

export interface StoryToolExecution {
  toolId: string;
  startedAt: number;
  output: string;
  /** The end of the tool execution. Undefined while the tool runs. */
  end: Pick<EventOf<'finished'>, 'seq' | 'at' | 'outcome' | 'summary' | 'result' | 'stopReason'> | undefined;
}

export interface StoryCall extends Pick<
  EventOf<'requested'>,
  'seq' | 'at' | 'callId' | 'tool' | 'title' | 'input' | 'source' | 'verdict' | 'refused'
> {
  type: 'call';
  decisions: readonly EventOf<'decided'>[];
  runs: readonly StoryToolExecution[];
  files: EventOf<'files'>['files'];
  withdrawn: boolean;
  /** The position of the event that made earlier decisions invalid. 0 if there is no such event. */
  outdated: number;
}

interface StoryText {
  type: 'text';
  seq: number;
  at: number;
  /** The name of an artifact. '' for the text of a turn. */
  name: string;
  /** The turn of the text. Null for an artifact. */
  turn: number | null;
  text: string;
  /** The reason why the task ignores this text. Undefined if the task uses the text. */
  abandoned: string | undefined;
}

/** The model's reasoning. It is not part of the answer. */
export interface StoryReasoning {
  type: 'reasoning';
  seq: number;
  at: number;
  turn: number;
  text: string;
}

/** A change of the to-do list. */
export interface StoryTodosChange extends EventOf<'todos'> {
  before: readonly StoryTodo[];
}

export type StoryStep =
  | StoryCall
  | StoryReasoning
  | StoryTodosChange
  | StoryText
  | EventOf<'message'>
  | EventOf<'note'>
  | EventOf<'revoked'>
  | EventOf<'question'>
  | EventOf<'ended'>;

export interface Story {
  /** The steps, oldest first. A step that has not changed stays the same object, so the page does not draw it again. */
  steps: readonly StoryStep[];
  /** The position of the last journal entry in this story. */
  seq: number;
  /** The model of the newest turn. '' before the first turn. */
  model: string;
  todos: readonly StoryTodo[];
  /** Maps the id of a tool call, or the key of an artifact, to the index of its step. */
  places: ReadonlyMap<string, number>;
}

export const NO_STORY: Story = { steps: [], seq: 0, model: '', todos: [], places: new Map() };

/** Adds a page of events. S1: returns the same story if it already contains the page, so no step appears twice. */
export function addToStory(story: Story, page: StoryPage): Story {
  if (page.seq <= story.seq) return story;
  const draft = new StoryDraft(story);
  for (const event of page.events) if (event.seq > story.seq) draft.take(event);
  return { steps: draft.steps, seq: page.seq, model: draft.model, todos: draft.todos, places: draft.places };
}

/** Returns the text of the task's first message. Returns '' while the page has no message. */
export function firstMessageText({ steps }: Story): string {
  const first = steps.find(({ type }) => type === 'message');
  return first?.type === 'message' ? first.text : '';
}

class StoryDraft {
  readonly steps: StoryStep[];
  readonly places: Map<string, number>;
  model: string;
  todos: readonly StoryTodo[];

  constructor({ steps, places, model, todos }: Story) {
    this.steps = [...steps];
    this.places = new Map(places);
    this.model = model;
    this.todos = todos;
  }

  take(event: StoryEvent): void {
    switch (event.type) {
      case 'message':
      case 'note':
      case 'revoked':
      case 'question':
      case 'ended':
        this.steps.push(event);
        return;
      case 'turn':
        this.model = event.model;
        return;
      case 'text':
        return this.#addText({ ...event, name: '', abandoned: undefined });
      case 'reasoning':
        return this.#addText(event);
      case 'todos':
        this.steps.push({ ...event, before: this.todos });
        this.todos = event.todos;
        return;
      case 'artifact':
        return this.#writeArtifact(event);
      case 'abandoned':
        return this.#abandonTurn(event);
      case 'requested':
        return this.#addRequestedCall(event);
      case 'decided':
        return this.#changeCall(event.callId, (call) => ({
          ...call,
          ...(event.edited !== null && { title: event.edited.title, input: event.edited.input }),
          decisions: [...call.decisions, event],
        }));
      case 'started':
        return this.#changeCall(event.callId, (call) => ({
          ...call,
          runs: [...call.runs, { toolId: event.toolId, startedAt: event.at, output: '', end: undefined }],
        }));
      case 'output':
        return this.#changeRun(event, (run) => ({
          ...run,
          output: (run.output + event.text).slice(-MAX_OUTPUT_CHARS),
        }));
      case 'finished':
        return this.#changeRun(event, (run) => ({ ...run, end: event }));
      case 'withdrawn':
        return this.#changeCall(event.callId, (call) => ({ ...call, withdrawn: true }));
      case 'outdated':
        return this.#changeCall(event.callId, (call) => ({ ...call, outdated: event.seq }));
      case 'files':
        return this.#changeCall(event.callId, (call) => ({
          ...call,
          files: [...call.files, ...event.files],
        }));
    }
  }

  /** Adds a requested tool call. A call that is requested again after a crash keeps its position in the story. */
  #addRequestedCall(event: EventOf<'requested'>): void {
    this.#putStep(event.callId, {
      ...event,
      type: 'call',
      decisions: [],
      runs: [],
      files: [],
      withdrawn: false,
      outdated: 0,
    });
  }

  /**
   * Adds a piece of text. A text after a tool call is a step of its own, so that the steps are in the order of time.
   */
  #addText(piece: StoryText | StoryReasoning): void {
    const last = this.steps.at(-1);
    const continues = last?.type === piece.type && 'turn' in last && last.turn === piece.turn;
    if (continues) this.steps[this.steps.length - 1] = { ...last, text: last.text + piece.text };
    else this.steps.push(piece);
  }

  #writeArtifact({ seq, at, artifactId, name, text, append }: EventOf<'artifact'>): void {
    const key = `artifact ${artifactId}`;
    const found = this.#find(key);
    if (found?.type === 'text') this.#putStep(key, { ...found, text: append ? found.text + text : text });
    else this.#putStep(key, { type: 'text', seq, at, name, turn: null, text, abandoned: undefined });
  }

  #abandonTurn({ turn, reason }: EventOf<'abandoned'>): void {
    for (const [index, step] of this.steps.entries())
      if (step.type === 'text' && step.turn === turn) this.steps[index] = { ...step, abandoned: reason };
  }

  #find(key: string): StoryStep | undefined {
    const index = this.places.get(key);
    return index === undefined ? undefined : this.steps[index];
  }

  #putStep(key: string, step: StoryStep): void {
    const index = this.places.get(key) ?? this.steps.length;
    this.places.set(key, index);
    this.steps[index] = step;
  }

  #changeCall(callId: string, change: (call: StoryCall) => StoryCall): void {
    const found = this.#find(callId);
    if (found?.type === 'call') this.#putStep(callId, change(found));
  }

  #changeRun(
    { callId, toolId }: { callId: string; toolId: string },
    change: (run: StoryToolExecution) => StoryToolExecution,
  ): void {
    this.#changeCall(callId, (call) => ({
      ...call,
      runs: call.runs.map((run) => (run.toolId === toolId ? change(run) : run)),
    }));
  }
}
