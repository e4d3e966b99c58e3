/**
 * Parses the steps of a script. A step is an object with one key, which is the step's name (docs/scripted-agent.md).
 */
import { z } from 'zod';
import type { Artifact, ArtifactPart } from '../../task/events.ts';

const text = z.string();
const named = z.string().min(1);

const file = z
  .strictObject({
    name: named,
    mediaType: named.optional(),
    text: text.optional(),
    base64: z.base64().optional(),
  })
  .refine((it) => (it.text === undefined) !== (it.base64 === undefined), {
    error: 'a file has either "text" or "base64"',
  });
const fileUrl = z.strictObject({ url: z.url(), name: named.optional(), mediaType: named.optional() });

/** The artifact ids that a script must not use. The task uses them for the text of its turns. */
const ID_OF_A_TURN = /^turn-\d+$/;

const artifact = z
  .strictObject({
    id: named.refine((id) => !ID_OF_A_TURN.test(id), {
      error: 'an id like "turn-1" is reserved for the text of a turn; choose another id',
    }),
    name: z.string().default(''),
    description: z.string().default(''),
    text: text.optional(),
    data: z.json().optional(),
    file: file.optional(),
    fileUrl: fileUrl.optional(),
    append: z.boolean().default(false),
    last: z.boolean().default(true),
  })
  .transform((it, context) => {
    const parts = partsOf(it);
    if (parts.length !== 1)
      context.addIssue({ code: 'custom', message: 'give one of "text", "data", "file" and "fileUrl"' });
    const { id: artifactId, name, description, append, last: lastChunk } = it;
    const given: Artifact = { artifactId, name, description, parts };
    return { artifact: given, append, lastChunk };
  });

interface ArtifactContents {
  text?: string | undefined;
  data?: unknown;
  file?: z.output<typeof file> | undefined;
  fileUrl?: z.output<typeof fileUrl> | undefined;
}

function partsOf(it: ArtifactContents): ArtifactPart[] {
  const parts: ArtifactPart[] = [];
  if (it.text !== undefined) parts.push({ type: 'text', text: it.text });
  if (it.data !== undefined) parts.push({ type: 'data', data: it.data });
  if (it.file) {
    const { name, mediaType, base64 } = it.file;
    const content = base64 ?? Buffer.from(it.file.text ?? '').toString('base64');
    parts.push({ type: 'file', base64: content, name, mediaType });
  }
  if (it.fileUrl) parts.push({ type: 'file-url', ...it.fileUrl });
  return parts;
}

const call = z.strictObject({ tool: named, input: z.record(z.string(), z.unknown()).default({}) });

const ARGUMENTS = {
  text: z.union([text.transform((it) => [it]), z.array(text).min(1)], {
    error: 'expected a text, or a list of its chunks',
  }),
  artifact,
  status: named,
  delay: z.number().int().min(0),
  call: call.transform((it) => [it]),
  calls: z.array(call).min(1),
  inputRequired: z.union([named, z.literal(true)], { error: 'expected a question, or true for no question' }),
  authRequired: named,
  message: named,
  complete: named,
  reject: named,
  fail: named,
  stayWorking: z.literal(true),
} as const;

type Arguments = typeof ARGUMENTS;
type StepName = keyof Arguments;

export type ScriptStep = { [K in StepName]: { type: K; value: z.output<Arguments[K]> } }[StepName];

/**
 * Returns how a step ends its turn, or undefined if the turn continues. After `run` and `ask`, later turns continue the
 * script. After `end`, no step follows.
 */
export function turnEndOf({ type }: ScriptStep): 'run' | 'ask' | 'end' | undefined {
  switch (type) {
    case 'call':
    case 'calls':
      return 'run';
    case 'inputRequired':
    case 'authRequired':
      return 'ask';
    case 'message':
    case 'complete':
    case 'reject':
    case 'fail':
    case 'stayWorking':
      return 'end';
    case 'text':
    case 'artifact':
    case 'status':
    case 'delay':
      return undefined;
  }
}

function isStepName(name: string): name is StepName {
  return Object.hasOwn(ARGUMENTS, name);
}

export const scriptStepSchema = z.record(z.string(), z.unknown()).transform((it, context): ScriptStep => {
  const [name = '', ...others] = Object.keys(it);
  if (!isStepName(name) || others.length > 0) {
    const names = Object.keys(ARGUMENTS).join(', ');
    context.addIssue({ code: 'custom', message: `a step has one key, which is one of: ${names}` });
    return z.NEVER;
  }
  const value = ARGUMENTS[name].safeParse(it[name]);
  if (value.success) return stepOf(name, value.data);
  for (const issue of value.error.issues)
    context.addIssue({ code: 'custom', path: [name, ...issue.path], message: issue.message });
  return z.NEVER;
});

/** Creates the step. The schema of this step name has parsed `value`, so the type is correct. */
function stepOf(type: StepName, value: unknown): ScriptStep {
  return z.custom<ScriptStep>().parse({ type, value });
}
