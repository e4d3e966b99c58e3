/** Prints a task's events as lines for a person. Text that streams in pieces stays on one line. */
import type { Activity, PendingAction } from '../../../shared/protocol/tool-approval.ts';
import { notDoneText } from '../../../shared/protocol/not-done.ts';
import { withMarkedLines, visibleLine, visibleText } from '../../../shared/text/visible-text.ts';
import type { Observed, Output, TaskStateName } from '../../dialects/observation.ts';
import { lineOf } from '../../mcp/reports/todos-line.ts';
import { activityText } from '../../sessions/activity-text.ts';
import { grantWords, standingGrants } from '../../mcp/reports/grant-words.ts';
import { agentOutput } from '../../mcp/reports/session-report.ts';
import { hasEnded, type TaskView } from '../../sessions/task-view.ts';
import { actionText } from '../terminal/action-text.ts';
import { styleOf } from '../terminal/state-style.ts';
import type { Style } from '../terminal/paint.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { stateWord } from '../../../shared/text/state-word.ts';

export class LiveText {
  readonly #terminal: Terminal;
  /** True if the task can still get decisions. For an ended task, the output gives no command lines. */
  readonly #decides: boolean;
  #state: TaskStateName | undefined;
  /** True if each line begins with the time of its event. */
  readonly #times: boolean;
  /** The time of the event that is being printed. */
  #at: string | undefined;
  /**
   * The pending actions that were printed, by call and code. If the agent asks again, the code differs and the action
   * is printed again.
   */
  readonly #shown = new Set<string>();
  #asked: string | undefined;
  /** The id of the text whose line is still open. */
  #open: string | undefined;
  /** True if the terminal has printed the agent's text piece by piece. */
  #streamed = false;

  constructor(terminal: Terminal, { decides, times = false }: { decides: boolean; times?: boolean }) {
    this.#terminal = terminal;
    this.#decides = decides;
    this.#times = times;
  }

  show({ seq, observations }: Observed, view: TaskView | undefined): void {
    this.#at = observations.flatMap((each) => ('at' in each && each.at !== undefined ? [each.at] : []))[0];
    for (const observation of observations) {
      if (observation.type === 'snapshot' && view !== undefined) {
        this.#sofar(view);
        this.#trusted(view);
      }
      if (observation.type === 'activity') this.#activity(observation.activity, seq);
      if (observation.type === 'output') this.#todos(observation.output);
      if (observation.type === 'output' && observation.output.aside === undefined)
        this.#run(`output ${observation.output.id}`, observation.output.text);
    }
    if (view !== undefined) this.#standing(view, seq);
  }

  note(text: string): void {
    this.#line('gray', text);
  }

  /** Ends an open line, and prints the text that was not printed before. */
  end(view: TaskView | undefined): void {
    if (view !== undefined) this.#sofar(view);
    this.#close();
  }

  #sofar(view: TaskView): void {
    const output = agentOutput(view);
    if (this.#streamed || output === '') return;
    this.#streamed = true;
    this.#line('bold', visibleText(output));
  }

  #trusted({ grants }: TaskView): void {
    for (const grant of standingGrants(grants, Date.now()))
      this.#line('yellow', `trusted ${grantWords(grant)}`);
  }

  #close(): void {
    if (this.#open !== undefined) this.#terminal.say('');
    this.#open = undefined;
  }

  #standing(view: TaskView, seq: number | null): void {
    const { state, text, pending, question, calls } = view;
    for (const action of pending) this.#pending(action);
    if (question !== null && question.id !== this.#asked) {
      this.#asked = question.id;
      this.#line('yellow', `asks:\n${withMarkedLines(question.text).text}`);
      this.#hint(`answer ${visibleLine(question.shown)} <words>`);
    }
    if (state === this.#state) return;
    this.#state = state;
    // For an ended task, `end` prints the whole text.
    const follows = hasEnded(view) && !this.#streamed && text === agentOutput(view);
    const words =
      pending.length > 0 || question !== null || text === '' || follows ? '' : `: ${visibleLine(text)}`;
    const missing = notDoneText(state, calls);
    this.#line(
      styleOf(state),
      `${this.#place(seq)}${stateWord(state)}${missing === '' ? '' : `, ${missing}`}${words}`,
    );
  }

  /** `17:04:05.123Z #12 `: the time is UTC, as in the log. */
  #place(seq: number | null): string {
    const time = this.#times && this.#at !== undefined ? `${timeOf(this.#at)} ` : '';
    return seq === null ? time : `${time}#${String(seq)} `;
  }

  #todos(output: Output): void {
    const line = lineOf(output);
    if (line !== null) this.#line('cyan', line);
  }

  #hint(command: string): void {
    if (this.#decides) this.note(`mcp-a2a-bridge ${command}`);
  }

  #pending(action: PendingAction): void {
    const key = `${action.callId} ${action.shown}`;
    if (this.#shown.has(key)) return;
    this.#shown.add(key);
    this.#close();
    this.#terminal.say(actionText(action, this.#terminal.paint));
    if (action.decisions.includes('answer')) this.#hint(`answer ${visibleLine(action.shown)} <words>`);
    else this.#hint(`approve ${visibleLine(action.shown)}`);
  }

  #activity(activity: Activity, seq: number | null): void {
    if (activity.type === 'tool.output') {
      this.#run(`tool ${activity.toolId}`, activity.text);
      return;
    }
    const words = activityText(activity) ?? '';
    const more =
      activity.type === 'tool.started'
        ? `  ${visibleLine(activity.toolId)}`
        : activity.type === 'tool.decided'
          ? `, over ${visibleLine(activity.channel)}`
          : '';
    this.#line(styleOfActivity(activity), `${this.#place(seq)}${words}`, this.#terminal.paint('gray', more));
  }

  #run(source: string, text: string): void {
    if (this.#open !== source) this.#close();
    if (text === '') return;
    if (source.startsWith('output ')) this.#streamed = true;
    this.#terminal.write(visibleText(text));
    this.#open = text.endsWith('\n') ? undefined : source;
  }

  #line(style: Style, text: string, after = ''): void {
    this.#close();
    this.#terminal.say(this.#terminal.paint(style, text) + after);
  }
}

/** The time of day of an RFC 3339 time, in UTC. An agent may send any text. */
function timeOf(at: string): string {
  const time = new Date(at);
  return Number.isNaN(time.getTime()) ? visibleLine(at, 40) : time.toISOString().slice(11);
}

function styleOfActivity(activity: Activity): Style {
  switch (activity.type) {
    case 'tool.requested':
      return activity.asks ? 'yellow' : 'cyan';
    case 'tool.decided':
      return activity.decision === 'deny' ? 'red' : 'green';
    case 'tool.started':
    case 'tool.output':
      return 'cyan';
    case 'tool.finished':
      return activity.outcome === 'ok' ? 'green' : 'red';
  }
}
