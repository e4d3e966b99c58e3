/** Faults that change no behaviour, so that no test can find them. Each has its reason. */

interface Equivalent {
  /** The name of the file. */
  file: string;
  /** The line of the source, without its indentation. */
  line: string;
  /** `original → replacement` */
  change: string;
}

const EQUIVALENTS: readonly (Equivalent & { why: string })[] = [
  {
    file: 'follow-journal.ts',
    line: 'let appended = false;',
    change: 'false → true',
    why: 'The reader reads once more, finds nothing and sleeps.',
  },
  {
    file: 'follow-journal.ts',
    line: 'wake = undefined;',
    change: 'wake = undefined; → ;',
    why: 'A promise that is resolved ignores a second call.',
  },
  {
    file: 'context-window.ts',
    line: 'let tokens = total(shown.slice(Math.max(last, 0)));',
    change: '0 → 1',
    why: 'They differ only if no turn stands before the last one. Then no turn is counted.',
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
    file: 'policy.ts',
    line: "{ tools, shell = process.platform === 'win32' ? 'cmd' : 'sh' }: { tools: readonly string[]; shell?: Shell },",
    change: "process.platform === 'win32' → false",
    why: 'The two differ on Windows only.',
  },
];

export function isEquivalent({ file, line, change }: Equivalent): boolean {
  return EQUIVALENTS.some((it) => it.file === file && it.line === line && it.change === change);
}
