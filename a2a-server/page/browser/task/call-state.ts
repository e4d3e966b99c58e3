/** Describes the state or the outcome of a tool call. Pure. */
import { commandFailure } from '../../../../shared/protocol/failed-command.ts';
import type { StoryCall } from './story.ts';

interface CallStateLabel {
  word: string;
  tone: 'waits' | 'running' | 'good' | 'bad' | 'quiet';
}

const OUTCOMES: Readonly<Record<'ok' | 'error' | 'stopped' | 'unknown', CallStateLabel>> = {
  ok: { word: 'done', tone: 'good' },
  error: { word: 'failed', tone: 'bad' },
  stopped: { word: 'stopped', tone: 'bad' },
  unknown: { word: 'outcome unknown', tone: 'bad' },
};

/** Returns the state of a tool call. @param live false if the task has ended. Then no tool call waits or runs. */
export function callStateLabel(call: StoryCall, live: boolean): CallStateLabel {
  const { refused, withdrawn, runs, decisions, verdict, outdated } = call;
  const run = runs.at(-1);
  const decision = decisions.filter(({ seq }) => seq > outdated).at(-1);
  if (refused) return { word: 'refused', tone: 'bad' };
  if (withdrawn) return { word: 'withdrawn', tone: 'quiet' };
  // A decision may follow an unknown outcome, and decides whether the tool call runs again.
  if (run !== undefined && !(decision !== undefined && decision.seq > (run.end?.seq ?? Infinity))) {
    if (run.end !== undefined) {
      const failure = commandFailure({ tool: call.tool, summary: run.end.summary });
      return failure === undefined ? OUTCOMES[run.end.outcome] : { word: failure, tone: 'bad' };
    }
    return live ? { word: 'running', tone: 'running' } : OUTCOMES.unknown;
  }
  if (decision?.decision === 'deny') return { word: 'denied', tone: 'bad' };
  if (decision?.decision === 'answer') return { word: 'answered', tone: 'good' };
  if (!live) return { word: 'did not run', tone: 'quiet' };
  if (decision !== undefined || (outdated === 0 && verdict.startsWith('allowed')))
    return { word: 'about to run', tone: 'running' };
  return { word: 'waits', tone: 'waits' };
}

/** Returns e.g. `40 ms`, `1.4 s`, `12 s`, `3 min 5 s` or `2 h 10 min`. @param ms milliseconds */
export function exactDurationText(ms: number): string {
  if (ms < 999.5) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = ms / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return withRest(`${Math.floor(whole / 60)} min`, whole % 60, 's');
  return withRest(`${Math.floor(whole / 3600)} h`, Math.floor((whole % 3600) / 60), 'min');
}

function withRest(text: string, rest: number, unit: string): string {
  return rest === 0 ? text : `${text} ${rest} ${unit}`;
}
