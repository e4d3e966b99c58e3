/**
 * Detects a model that is stuck. Its answers are empty or incomplete, or its tool calls are refused or repeated. The
 * model gets a remark in its next turn. After several such turns in a row, the task asks a person. A person's message
 * resets the count. Pure.
 */
import { resultForModel } from './result-for-model.ts';
import { callsOfTurn, type Call, type ConversationItem, type Snapshot, type Turn } from './snapshot.ts';

type Fault = 'empty' | 'cut' | 'refused' | 'same';

interface StuckRule {
  /** The number of stuck turns in a row that get no remark. A few such turns may be correct. */
  silent: number;
  /** The number of stuck turns in a row after which the task asks a person. */
  most: number;
  remark: string;
  /** The end of the sentence "The model …" in the question to the person. */
  did: string;
}

const RULES: Readonly<Record<Fault, StuckRule>> = {
  empty: {
    silent: 0,
    most: 3,
    remark:
      'Your last answer was empty. Continue the task. If it is done, say in a few sentences what you did and what you did not do.',
    did: 'has given an empty answer',
  },
  cut: {
    silent: 0,
    most: 3,
    remark:
      'Your last answer was cut off at its maximum length. Continue where it stopped, in shorter answers. Write a long text to a file, piece by piece.',
    did: 'has given an answer that was cut off at its maximum length',
  },
  refused: {
    silent: 1,
    most: 5,
    remark:
      'None of your last calls could run, several turns in a row. Check your tools and the schemas of their inputs, or say what the problem is.',
    did: 'has made only calls that cannot run',
  },
  same: {
    silent: 2,
    most: 10,
    remark:
      'You made the same calls several turns in a row, with the same results. Do something else, or say what the problem is.',
    did: 'has made the same calls, with the same results',
  },
};

/** Returns remarks for the model. The key is the number of the turn that the remark follows. */
export function stuckRemarks(snapshot: Snapshot): ReadonlyMap<number, string> {
  const told = new Map<number, string>();
  for (const { fault, count, turn } of stuckTurns(snapshot)) {
    const { silent, remark } = RULES[fault];
    if (count > silent) told.set(turn.turn, `(${remark})`);
  }
  return told;
}

export function stuckQuestion(snapshot: Snapshot): string | undefined {
  const last = snapshot.exchanges.at(-1);
  const fault = stuckTurns(snapshot).at(-1);
  if (last?.type !== 'turn' || fault === undefined || last.turn !== fault.turn) return undefined;
  const { most, did } = RULES[fault.fault];
  if (fault.count < most) return undefined;
  return `The model ${fault.turn.model} ${did}, ${fault.count} turns in a row${lastCallText(snapshot, fault.turn)}. The work so far is kept. To let it try again, reply; your reply can contain advice. Otherwise cancel the task.`;
}

/** True if a turn without tool calls does not complete the task, because its answer is empty or cut off. */
export function isTurnUnfinished({ end }: Turn): boolean {
  return end === 'empty' || end === 'length';
}

function lastCallText(snapshot: Snapshot, turn: Turn): string {
  const [call] = callsOfTurn(snapshot, turn);
  if (call === undefined) return '';
  const { text } = resultForModel(call);
  return ` (last call: ${call.title}: ${text.replaceAll(/\s+/g, ' ').trim().slice(0, 200)})`;
}

interface StuckTurn {
  fault: Fault;
  /** The number of stuck turns in a row, including this turn. */
  count: number;
  turn: Turn;
}

function stuckTurns(snapshot: Snapshot): StuckTurn[] {
  const found: StuckTurn[] = [];
  let before: { exchange: ConversationItem; found: StuckTurn | undefined } | undefined;
  for (const exchange of snapshot.exchanges) {
    const previous = before?.exchange.type === 'turn' ? before.exchange.turn : undefined;
    const fault = exchange.type === 'turn' ? faultOf(snapshot, exchange.turn, previous) : undefined;
    const count = fault !== undefined && before?.found?.fault === fault ? before.found.count + 1 : 1;
    const now = exchange.type === 'turn' && fault ? { fault, count, turn: exchange.turn } : undefined;
    if (now) found.push(now);
    before = { exchange, found: now };
  }
  return found;
}

function faultOf(snapshot: Snapshot, turn: Turn, previous: Turn | undefined): Fault | undefined {
  const calls = callsOfTurn(snapshot, turn);
  if (calls.length === 0) return turn.end === 'empty' ? 'empty' : turn.end === 'length' ? 'cut' : undefined;
  if (calls.every(isRefused)) return 'refused';
  if (previous === undefined) return undefined;
  const earlier = callsOfTurn(snapshot, previous);
  const same = calls.length === earlier.length && calls.every((call, index) => isSame(call, earlier[index]));
  return same ? 'same' : undefined;
}

function isRefused({ state }: Call): boolean {
  return state.type === 'settled' && state.result.type === 'refused';
}

function isSame(call: Call, other: Call | undefined): boolean {
  return (
    call.tool === other?.tool &&
    call.inputHash === other.inputHash &&
    resultForModel(call).text === resultForModel(other).text
  );
}
