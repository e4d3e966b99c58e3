import { z } from 'zod';
import { errorMessageOf } from '../../../shared/runtime/errors.ts';
import { isDeeperThan } from '../../runtime/is-deeper-than.ts';

export interface OfflinePlanCall {
  tool: string;
  input: Record<string, unknown>;
}

export type OfflinePlanStep =
  | ({ type: 'call' } & OfflinePlanCall)
  | { type: 'together'; calls: OfflinePlanCall[] }
  /** Text to stream. With `repeat`, `text` is sent that many times. */
  | { type: 'say'; text: string; repeat?: number };

/** The result of parsing a message. A `refused` message has no effect. */
export type ParsedOfflinePlan =
  /** `form` is present if the message has one of the forms of docs/offline-model.md. It is absent for a JSON plan. */
  { type: 'steps'; steps: OfflinePlanStep[]; form?: true } | { type: 'refused'; why: string };

export function plannedCallsOfStep(step: OfflinePlanStep): OfflinePlanCall[] {
  switch (step.type) {
    case 'call':
      return [step];
    case 'together':
      return step.calls;
    case 'say':
      return [];
  }
}

export const MAX_SAY_CHARACTERS = 50_000_000;
export const MAX_SAY_CHUNKS = 1_000_000;
const MAX_STEPS = 1_000;
/** The maximum depth of a plan. No tool needs a deeper input, and a plan of this depth can still be serialised. */
const MAX_DEPTH = 100;

const plannedCall = z.strictObject({
  tool: z.string().min(1).max(200),
  input: z.record(z.string(), z.unknown()).default({}),
});

const say = z
  .strictObject({ say: z.string(), repeat: z.number().int().min(1).max(MAX_SAY_CHUNKS).optional() })
  .refine((said) => said.say.length * (said.repeat ?? 1) <= MAX_SAY_CHARACTERS, {
    error: `"say" streams at most ${MAX_SAY_CHARACTERS} characters`,
  });

const plan = z.strictObject({
  plan: z
    .array(z.union([plannedCall, say, z.strictObject({ together: z.array(plannedCall).min(1).max(50) })]))
    .max(MAX_STEPS),
});

/**
 * Parses a JSON plan. A plan can use any tool, several tool calls in one turn, and long streams:
 *
 * `{"plan": [{"tool": "…", "input": {…}}, {"together": [{"tool": …}, …]}, {"say": "…", "repeat": 3}]}`
 *
 * Returns a refusal with the reason for any other text. Never throws.
 */
export function parseJsonPlan(source: string): ParsedOfflinePlan {
  let json: unknown;
  try {
    json = JSON.parse(source);
  } catch (error) {
    return refusedPlan(`the plan is not valid JSON (${errorMessageOf(error).slice(0, 100)})`);
  }
  if (isDeeperThan(json, MAX_DEPTH)) return refusedPlan(`the plan has more than ${MAX_DEPTH} levels`);
  const parsed = plan.safeParse(json);
  if (!parsed.success) return refusedPlan(`the JSON is not a plan: ${firstIssue(parsed.error)}`);
  return { type: 'steps', steps: parsed.data.plan.map(stepOf) };
}

function stepOf(item: z.infer<typeof plan>['plan'][number]): OfflinePlanStep {
  if ('together' in item) return { type: 'together', calls: item.together };
  if ('tool' in item) return { type: 'call', ...item };
  return { type: 'say', text: item.say, ...(item.repeat !== undefined && { repeat: item.repeat }) };
}

function refusedPlan(why: string): ParsedOfflinePlan {
  return { type: 'refused', why };
}

function firstIssue(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return 'it has another shape';
  const where = issue.path.join('.');
  const what =
    issue.code === 'invalid_union'
      ? 'a step is {tool, input}, {say, repeat?} or {together: [{tool, input}, …]}'
      : issue.message;
  return where === '' ? what : `at ${where}: ${what}`;
}
