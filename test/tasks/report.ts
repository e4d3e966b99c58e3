import type { JobResult } from './run-job.ts';

const HEAD = ['job', '', 'asked', 'turns', 'calls', 'tokens', 'US$', 'minutes'] as const;

export function reportText(model: string, results: readonly JobResult[]): string {
  const rows = [HEAD, ...results.map(rowOf), totalOf(results)];
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const table = rows.map((row) =>
    row
      .map((cell, column) =>
        column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
  const failures = results.flatMap(({ id, wrong }) => wrong.map((what) => `  ${id}: ${what}`));
  const done = results.filter(({ wrong }) => wrong.length === 0).length;
  return [
    ...table,
    '',
    `${model} did ${String(done)} of ${String(results.length)} jobs${failures.length === 0 ? '.' : ':'}`,
    ...failures,
    '',
  ].join('\n');
}

function rowOf(result: JobResult): string[] {
  return [result.id, result.wrong.length === 0 ? 'done' : 'not done', ...figuresOf(result)];
}

function totalOf(results: readonly JobResult[]): string[] {
  const sum = (of: (result: JobResult) => number): number =>
    results.reduce((total, each) => total + of(each), 0);
  const priced = results.every(({ usd }) => usd !== null);
  return [
    'all',
    '',
    ...figuresOf({
      decisions: sum(({ decisions }) => decisions),
      turns: sum(({ turns }) => turns),
      calls: sum(({ calls }) => calls),
      inputTokens: sum(({ inputTokens }) => inputTokens),
      outputTokens: sum(({ outputTokens }) => outputTokens),
      usd: priced ? sum(({ usd }) => usd ?? 0) : null,
      durationMs: sum(({ durationMs }) => durationMs),
    }),
  ];
}

function figuresOf({
  decisions,
  turns,
  calls,
  inputTokens,
  outputTokens,
  usd,
  durationMs,
}: Omit<JobResult, 'id' | 'state' | 'wrong'>): string[] {
  return [
    String(decisions),
    String(turns),
    String(calls),
    String(inputTokens + outputTokens),
    usd === null ? '?' : usd.toFixed(4),
    (durationMs / 60_000).toFixed(1),
  ];
}
