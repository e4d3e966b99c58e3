/** Checks the result of a job. */
import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { Check } from './job.ts';

export interface Outcome {
  workspace: string;
  /** All text of the agent. */
  said: string;
  asked: readonly string[];
  decisions: number;
}

const COMMAND_MS = 60_000;

/** @returns a sentence for each check that fails */
export async function judge(checks: readonly Check[], outcome: Outcome): Promise<readonly string[]> {
  const wrong: string[] = [];
  // Runs the checks in order, because a command may change the result.
  for (const check of checks) {
    const what = await failure(check, outcome);
    if (what !== undefined) wrong.push(what);
  }
  return wrong;
}

async function failure(
  check: Check,
  { workspace, said, asked, decisions }: Outcome,
): Promise<string | undefined> {
  if ('file' in check) return fileFailure(check, workspace);
  if ('absent' in check) {
    const there = await stat(join(workspace, check.absent)).then(
      () => true,
      () => false,
    );
    return there ? `${check.absent} is still there` : undefined;
  }
  if ('command' in check)
    return promisify(execFile)('/bin/sh', ['-c', check.command], {
      cwd: workspace,
      timeout: COMMAND_MS,
    }).then(
      () => undefined,
      (error: unknown) => `\`${check.command}\` failed: ${lastLines(error)}`,
    );
  if ('says' in check)
    return new RegExp(check.says, 'iu').test(said) ? undefined : `the agent did not say ${check.says}`;
  if ('asked' in check) {
    const missing = check.asked.filter((page) => !asked.includes(page));
    return missing.length === 0 ? undefined : `never asked for ${missing.join(', ')}`;
  }
  if ('notAsked' in check) {
    const unwanted = check.notAsked.filter((page) => asked.includes(page));
    return unwanted.length === 0 ? undefined : `asked for ${unwanted.join(', ')}`;
  }
  if (check.decisions === 0)
    return decisions === 0
      ? undefined
      : `the person was asked ${String(decisions)} times, and need not have been`;
  return decisions >= check.decisions
    ? undefined
    : `the person was asked ${String(decisions)} times, not ${String(check.decisions)}`;
}

async function fileFailure(
  { file, is, has = [], hasNot = [] }: Extract<Check, { file: string }>,
  workspace: string,
): Promise<string | undefined> {
  const text = await readFile(join(workspace, file), 'utf8').catch(() => undefined);
  if (text === undefined) return `there is no ${file}`;
  if (is !== undefined && text !== is) return `${file} is ${JSON.stringify(text.slice(0, 200))}`;
  const missing = has.filter((passage) => !text.includes(passage));
  if (missing.length > 0) return `${file} lacks ${missing.map((each) => JSON.stringify(each)).join(', ')}`;
  const left = hasNot.filter((passage) => text.includes(passage));
  return left.length === 0 ? undefined : `${file} has ${left.map((each) => JSON.stringify(each)).join(', ')}`;
}

const ran = z.object({ stdout: z.string().default(''), stderr: z.string().default('') });

function lastLines(error: unknown): string {
  const { stdout, stderr } = ran.parse(error);
  return `${stdout}\n${stderr}`.trim().split('\n').slice(-3).join(' | ').slice(-300);
}
