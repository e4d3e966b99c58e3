/** Parses a script. Its rules give the scripted agent the steps for each message (docs/scripted-agent.md). */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { inputProblem, zodIssuesText } from '../../../shared/text/input-problem.ts';
import { ProductError } from '../../../shared/runtime/errors.ts';
import { fileProblem } from '../../../shared/runtime/file-problem.ts';
import { scriptStepSchema, turnEndOf, type ScriptStep } from './script-step.ts';

/** The steps of each turn, in order. A question or a tool call ends a turn. The last turn may have no steps. */
export type ScriptTurns = readonly (readonly ScriptStep[])[];

export interface ScriptRule {
  when: {
    /** A prefix of the message id that the message must have. */
    messageId?: string | undefined;
    /** A text that must occur in the message, in upper or lower case. */
    text?: string | undefined;
    /** The number that the message must have in its task, starting at 1. */
    turn?: number | undefined;
  };
  do: ScriptTurns;
}

export interface Script {
  rules: readonly ScriptRule[];
  otherwise: ScriptTurns;
}

const NO_RULE: ScriptTurns = [[{ type: 'reject', value: 'No rule of the script matches this message.' }]];

const sequence = z
  .array(scriptStepSchema)
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

/** @throws ProductError CONFIGURATION, which gives the position in the script and the problem */
export function parseScript(json: unknown, path: string): Script {
  const parsed = validateScript(json, path);
  if (parsed.success) return parsed.data;
  throw new ProductError('CONFIGURATION', `The script ${path} is not valid: ${zodIssuesText(parsed.error)}.`);
}

function validateScript(json: unknown, path: string): z.ZodSafeParseResult<Script> {
  try {
    return script.safeParse(json, { error: inputProblem });
  } catch (error) {
    // The script is nested too deep for the stack.
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
    // This removes a byte order mark, which some editors write. A parser may ignore the mark (RFC 8259 §8.1).
    json = JSON.parse((await readFile(path, 'utf8')).replace(/^\uFEFF/, ''));
  } catch (error) {
    throw new ProductError('CONFIGURATION', `The script ${path} cannot be read: ${fileProblem(error)}.`, {
      cause: error,
    });
  }
  return parseScript(json, path);
}

function problemsOf(steps: readonly ScriptStep[]): [number, string][] {
  const problems: [number, string][] = [];
  /**
   * The artifacts that the earlier steps of this turn have created. An append must name one of them. After a crash, the
   * turn repeats and creates them again.
   */
  let given = new Set<string>();
  for (const [index, it] of steps.entries()) {
    const before = steps[index - 1];
    if (before && turnEndOf(before) === 'end')
      problems.push([index, `no step can follow "${before.type}", because it ends the task`]);
    if (it.type === 'artifact') {
      const { artifact, append } = it.value;
      if (append && !given.has(artifact.artifactId))
        problems.push([
          index,
          `there is no artifact "${artifact.artifactId}" to append to: add a step before that creates it, without a call or question in between`,
        ]);
      given.add(artifact.artifactId);
    }
    if (turnEndOf(it) !== undefined) given = new Set();
    if (it.type === 'message' && steps.some((other) => other !== it && other.type !== 'delay'))
      problems.push([index, 'a bare message is the whole response: only "delay" steps can be with it']);
  }
  return problems;
}

function turnsOf(steps: readonly ScriptStep[]): ScriptTurns {
  const turns: ScriptStep[][] = [[]];
  for (const it of steps) {
    turns.at(-1)?.push(it);
    const end = turnEndOf(it);
    if (end === 'ask' || end === 'run') turns.push([]);
  }
  return turns;
}
