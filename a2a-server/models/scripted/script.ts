/** A script: rules that say what a scripted agent does for which message. Format: docs/scripted-agent.md. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { issuesOf } from '../../../shared/config.ts';
import { messageOf, ProductError } from '../../../shared/errors.ts';
import { step, turnEnd, type Step } from './step.ts';

/** The steps of one turn after the other. What asks or calls ends a turn; the last may be empty. */
export type Sequence = readonly (readonly Step[])[];

export interface Rule {
  when: {
    /** What the message's id begins with. */
    messageId?: string | undefined;
    /** What is found in the message's text, in upper or lower case. */
    text?: string | undefined;
    /** Which message of the task it is; 1 is the first. */
    turn?: number | undefined;
  };
  do: Sequence;
}

export interface Script {
  rules: readonly Rule[];
  /** For a message that no rule is for. */
  otherwise: Sequence;
}

const NO_RULE: Sequence = [[{ type: 'reject', value: 'No rule of the script is for this message.' }]];

const sequence = z
  .array(step)
  .min(1)
  .superRefine((steps, context) => {
    for (const [index, problem] of problemsOf(steps))
      context.addIssue({ code: 'custom', path: [index], message: problem });
  })
  .transform(turnsOf);

const script = z.strictObject({
  rules: z
    .array(
      z.strictObject({
        when: z.strictObject({
          messageId: z.string().min(1).optional(),
          text: z.string().min(1).optional(),
          turn: z.number().int().min(1).optional(),
        }),
        do: sequence,
      }),
    )
    .default([]),
  otherwise: sequence.default(NO_RULE),
});

/** @throws ProductError CONFIGURATION that names the place in the script and what is wrong there. */
export function parseScript(json: unknown, path: string): Script {
  const parsed = judged(json, path);
  if (parsed.success) return parsed.data;
  throw new ProductError('CONFIGURATION', `The script ${path} is not valid: ${issuesOf(parsed.error)}.`);
}

function judged(json: unknown, path: string): z.ZodSafeParseResult<Script> {
  try {
    return script.safeParse(json);
  } catch (error) {
    // What is nested deeper than the stack is deep.
    if (!(error instanceof RangeError)) throw error;
    throw new ProductError('CONFIGURATION', `The script ${path} is not valid: it is nested too deep.`, {
      cause: error,
    });
  }
}

/** @throws ProductError CONFIGURATION */
export async function readScript(path: string): Promise<Script> {
  let json: unknown;
  try {
    // RFC 8259 §8.1: a byte order mark, which some editors write, may be ignored.
    json = JSON.parse((await readFile(path, 'utf8')).replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new ProductError('CONFIGURATION', `The script ${path} cannot be read: ${messageOf(error)}`, {
      cause: error,
    });
  }
  return parseScript(json, path);
}

function problemsOf(steps: readonly Step[]): [number, string][] {
  const problems: [number, string][] = [];
  /** What the turn has given so far: when it is repeated after a crash, an appended part must find it anew. */
  let given = new Set<string>();
  for (const [index, it] of steps.entries()) {
    const before = steps[index - 1];
    if (before && turnEnd(before) === 'end')
      problems.push([index, `nothing can follow "${before.type}", which is the end`]);
    if (it.type === 'artifact') {
      const { artifact, append } = it.value;
      if (append && !given.has(artifact.artifactId))
        problems.push([
          index,
          `there is no artifact "${artifact.artifactId}" to append to: it is given by a step before, with no call or question between`,
        ]);
      given.add(artifact.artifactId);
    }
    if (turnEnd(it) !== undefined) given = new Set();
    if (it.type === 'message' && steps.some((other) => other !== it && other.type !== 'delay'))
      problems.push([index, 'a bare message is all there is: only a delay may stand beside it']);
  }
  return problems;
}

function turnsOf(steps: readonly Step[]): Sequence {
  const turns: Step[][] = [[]];
  for (const it of steps) {
    turns.at(-1)?.push(it);
    const end = turnEnd(it);
    if (end === 'ask' || end === 'run') turns.push([]);
  }
  return turns;
}
