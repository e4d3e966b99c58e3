/** Prints the events of a task as lines for a person. Pieces of streamed text are joined to lines. */
import type { EventCost } from '../../../shared/protocol/cost-report.ts';
import type { ToolCallEvent, PendingAction } from '../../../shared/protocol/tool-approval.ts';
import { commandFailure } from '../../../shared/protocol/failed-command.ts';
import { notDoneText } from '../../../shared/protocol/not-done-text.ts';
import { visibleLine } from '../../../shared/text/visible-text.ts';
import type { ObservedEvent, ObservedArtifact, TaskStateName } from '../../dialects/observation.ts';
import { todoListLine } from '../../mcp/reports/todos-line.ts';
import { toolCallEventText } from '../../sessions/session/tool-call-event-text.ts';
import { grantText, unexpiredGrantViews } from '../../mcp/reports/grant-text.ts';
import { agentOutputText } from '../../mcp/reports/session-report.ts';
import { hasEnded, type TaskView } from '../../sessions/session/observed-task.ts';
import { actionText } from '../terminal/action-text.ts';
import { howToAnswerText, howToDecideText } from '../terminal/how-to-decide.ts';
import { styleOfState, type TerminalStyle } from '../terminal/paint.ts';
import { quotedRows, wrapIntoRowsAtWords } from '../terminal/rows.ts';
import { StreamedRows } from '../terminal/streamed-rows.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { costRequestLabel, tokensAndPriceText } from '../../../shared/text/cost-text.ts';
import { taskStateWord } from '../../../shared/text/task-state-word.ts';

const MAX_SUMMARY_CHARACTERS = 200;

/**
 * How pending actions are shown. `with commands`: with the commands that decide them. `without commands`: without these
 * commands, because the task has ended. `in a prompt`: not at all, because a prompt shows each action.
 */
export type ShownPending = 'with commands' | 'without commands' | 'in a prompt';

export class LiveTaskText {
  readonly #terminal: Terminal;
  readonly #shownPending: ShownPending;
  #state: TaskStateName | undefined;
  readonly #times: boolean;
  /** The time of the current event, if the agent reports it. */
  #at: string | undefined;
  /**
   * The pending actions that were already printed, by call id and code. If the agent asks again, the action has another
   * code and is printed again.
   */
  readonly #shown = new Set<string>();
  #asked: string | undefined;
  #open: string | undefined;
  readonly #rows: StreamedRows;
  /** The turn whose reasoning was printed last. Undefined if other text followed. */
  #thinking: number | undefined;
  /** True if the agent's text has been printed. */
  #streamed = false;

  constructor(terminal: Terminal, { pending, times = false }: { pending: ShownPending; times?: boolean }) {
    this.#terminal = terminal;
    this.#rows = new StreamedRows(terminal.width);
    this.#shownPending = pending;
    this.#times = times;
  }

  show({ seq, observations }: ObservedEvent, view: TaskView | undefined): void {
    this.#at = observations.flatMap((each) => ('at' in each && each.at !== undefined ? [each.at] : []))[0];
    for (const observation of observations) {
      if (observation.type === 'snapshot' && view !== undefined) {
        this.#writeEarlierOutput(view);
        this.#writeGrants(view);
        this.#writeRunningTools(view, seq);
      }
      if (observation.type === 'activity') this.#activity(observation.activity, seq);
      if (observation.type === 'reasoning') this.#reasoning(observation.turn, observation.text);
      if (observation.type === 'output') this.#todos(observation.output);
      if (observation.type === 'output' && observation.output.aside === undefined)
        this.#run(`output ${observation.output.id}`, observation.output.text);
      if (observation.type === 'cost') this.#cost(observation.cost);
    }
    if (view !== undefined) this.#writeState(view, seq);
  }

  note(text: string): void {
    this.#line('gray', text);
  }

  /** Ends an unfinished line, and prints the agent's text if it was not printed before. */
  end(view: TaskView | undefined): void {
    if (view !== undefined) this.#writeEarlierOutput(view);
    this.#close();
  }

  #writeEarlierOutput(view: TaskView): void {
    const output = agentOutputText(view);
    if (this.#streamed || output === '') return;
    this.#streamed = true;
    this.#close();
    this.#line('bold', this.#rows.next(output));
    this.#rows.endLine();
  }

  #writeGrants({ grants }: TaskView): void {
    for (const grant of unexpiredGrantViews(grants, Date.now()))
      this.#line('yellow', `trusted ${grantText(grant)}`);
  }

  /** Prints the tools that were already running when the person began to watch. */
  #writeRunningTools({ calls }: TaskView, seq: number | null): void {
    for (const { callId, tool, title, state, toolId } of calls)
      if (state === 'running' && toolId !== null)
        this.#activity({ type: 'tool.started', callId, tool, title, toolId }, seq);
  }

  #close(): void {
    if (this.#open !== undefined) this.#terminal.say('');
    this.#rows.endLine();
    this.#open = undefined;
  }

  #writeState(view: TaskView, seq: number | null): void {
    this.#newState(view, seq);
    const { pending, question } = view;
    for (const action of pending) this.#pending(action);
    if (question !== null && question.id !== this.#asked) {
      this.#asked = question.id;
      this.#line('yellow', `asks:\n${quotedRows(question.text, this.#terminal.width)}`);
      this.#hint(howToAnswerText(question));
    }
  }

  #newState(view: TaskView, seq: number | null): void {
    const { state, text, pending, question, calls } = view;
    if (state === this.#state) return;
    this.#state = state;
    // The text of this status is not printed if `end` prints the same text later.
    const follows = hasEnded(view) && !this.#streamed && text === agentOutputText(view);
    const words =
      pending.length > 0 || question !== null || text === '' || follows ? '' : `: ${visibleLine(text)}`;
    const missing = notDoneText(state, calls);
    this.#line(
      missing === '' ? styleOfState(state) : 'yellow',
      wrapIntoRowsAtWords(
        `${this.#place(seq)}${taskStateWord(state)}${missing === '' ? '' : `, ${missing}`}${words}`,
        this.#terminal.width,
      ),
    );
  }

  /** Returns the time and the `seq` of the event, such as `17:04:05.123Z #12 `. The time is UTC, as in the log. */
  #place(seq: number | null): string {
    const time = this.#times && this.#at !== undefined ? `${timeOf(this.#at)} ` : '';
    return seq === null ? time : `${time}#${String(seq)} `;
  }

  #todos(output: ObservedArtifact): void {
    const line = todoListLine(output);
    if (line !== null) this.#line('cyan', line);
  }

  #hint(text: string): void {
    if (this.#shownPending === 'with commands') this.note(text);
  }

  #pending(action: PendingAction): void {
    const key = `${action.callId} ${action.shown}`;
    if (this.#shownPending === 'in a prompt' || this.#shown.has(key)) return;
    this.#shown.add(key);
    this.#close();
    // A blank line separates the action from the output before it.
    this.#terminal.say(`\n${actionText(action, this.#terminal)}`);
    this.#hint(howToDecideText(action));
  }

  #activity(activity: ToolCallEvent, seq: number | null): void {
    if (activity.type === 'tool.output') {
      this.#run(`tool ${activity.toolId}`, activity.text);
      return;
    }
    const words = stepText(activity);
    const more = activity.type === 'tool.started' ? `  ${visibleLine(activity.toolId)}` : '';
    this.#line(
      styleOfToolCallEvent(activity),
      wrapIntoRowsAtWords(`${this.#place(seq)}${words}`, this.#terminal.width),
      this.#terminal.paint('gray', more),
    );
  }

  #cost(cost: EventCost): void {
    const name = cost.turn === null ? costRequestLabel(cost) : `turn ${costRequestLabel(cost)}`;
    this.note(`${name}: ${tokensAndPriceText(cost)}`);
  }

  /** Prints reasoning of the model, below a heading that separates it from the answer. */
  #reasoning(turn: number, text: string): void {
    if (text === '') return;
    if (this.#thinking !== turn) this.note('thinking:');
    this.#run(`reasoning ${String(turn)}`, text, 'gray');
    this.#thinking = turn;
  }

  #run(source: string, text: string, style?: TerminalStyle): void {
    if (this.#open !== source) this.#close();
    if (text === '') return;
    this.#thinking = undefined;
    if (source.startsWith('output ')) this.#streamed = true;
    const shown = this.#rows.next(text);
    this.#terminal.write(style === undefined ? shown : this.#terminal.paint(style, shown));
    this.#open = text.endsWith('\n') ? undefined : source;
  }

  #line(style: TerminalStyle, text: string, after = ''): void {
    this.#thinking = undefined;
    this.#close();
    this.#terminal.say(this.#terminal.paint(style, text) + after);
  }
}

/** Returns the UTC time of day. If the agent's text is not a time, returns that text. */
function timeOf(at: string): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? visibleLine(at, 40) : time.toISOString().slice(11);
}

/**
 * Describes a step on one line. A call that waits has no title here, because the pending action follows with its title.
 * For a tool that has ended, the summary of its result replaces the outcome `ok`. (`ok` only means that the tool has
 * ended: its command may have failed.) The summary also replaces the outcome `unknown`. It replaces `stopped` only if
 * it begins with this word.
 */
function stepText(activity: ToolCallEvent): string {
  const text = toolCallEventText(activity) ?? '';
  if (activity.type === 'tool.requested' && activity.asks)
    return `${visibleLine(activity.tool)} waits for ${activity.question ? 'an answer' : 'approval'}`;
  if (activity.type !== 'tool.finished' || activity.summary === '') return text;
  const summary = visibleLine(activity.summary, MAX_SUMMARY_CHARACTERS);
  const { outcome } = activity;
  const isSaid =
    outcome === 'ok' || outcome === 'unknown' || (outcome === 'stopped' && /^stopped\b/i.test(summary));
  return isSaid ? `${visibleLine(activity.tool)}: ${summary}` : `${text}, ${summary}`;
}

function styleOfToolCallEvent(activity: ToolCallEvent): TerminalStyle {
  switch (activity.type) {
    case 'tool.requested':
      return activity.asks ? 'yellow' : 'cyan';
    case 'tool.decided':
      return activity.decision === 'deny' ? 'red' : 'green';
    case 'tool.started':
    case 'tool.output':
      return 'cyan';
    case 'tool.finished':
      return activity.outcome === 'ok' && commandFailure(activity) === undefined ? 'green' : 'red';
  }
}
