/** Writes a table for each schema of the A2A extensions and of the story of a task. */
import type { z } from 'zod';
import * as agentCommand from '../../shared/protocol/agent-command.ts';
import * as callView from '../../shared/protocol/call-view.ts';
import * as costReport from '../../shared/protocol/cost-report.ts';
import * as decision from '../../shared/protocol/decision.ts';
import * as presence from '../../shared/protocol/presence-assertion.ts';
import * as question from '../../shared/protocol/question.ts';
import * as resumableStream from '../../shared/protocol/resumable-stream-extension.ts';
import * as taskSettings from '../../shared/protocol/task-settings.ts';
import * as story from '../../shared/protocol/task-story.ts';
import * as todo from '../../shared/protocol/todo.ts';
import * as toolApproval from '../../shared/protocol/tool-approval.ts';
import { prose, sectionLink, table } from './markdown.ts';
import { fieldRows, isUnionOfObjects, optionRows, type SchemaLinks, typeText } from './schema-fields.ts';
import { sourceFile } from './source-comments.ts';

/**
 * The files that declare schemas. If two files export the same schema, the first file in this list is its place. So a
 * file that re-exports schemas comes after the file that declares them.
 */
const FILES: readonly { path: string; exports: Readonly<Record<string, unknown>> }[] = [
  { path: 'shared/protocol/call-view.ts', exports: callView },
  { path: 'shared/protocol/question.ts', exports: question },
  { path: 'shared/protocol/cost-report.ts', exports: costReport },
  { path: 'shared/protocol/presence-assertion.ts', exports: presence },
  { path: 'shared/protocol/decision.ts', exports: decision },
  { path: 'shared/protocol/task-settings.ts', exports: taskSettings },
  { path: 'shared/protocol/todo.ts', exports: todo },
  { path: 'shared/protocol/tool-approval.ts', exports: toolApproval },
  { path: 'shared/protocol/resumable-stream-extension.ts', exports: resumableStream },
  { path: 'shared/protocol/agent-command.ts', exports: agentCommand },
  { path: 'shared/protocol/task-story.ts', exports: story },
];

/** The schemas on each page, in the order of a reader. */
const SECTIONS = {
  'what a client gets': [
    'pendingActionsPartSchema',
    'previewSchema',
    'questionSchema',
    'formSchema',
    'pendingReasonSchema',
    'sideEffectSchema',
    'toolSourceSchema',
    'toolCallEventSchema',
    'stopReasonSchema',
    'toolProgressSchema',
    'eventCostSchema',
    'artifactRoleSchema',
    'taskOverviewSchema',
    'toolServerViewSchema',
    'costSumSchema',
  ],
  'what a client sends': [
    'taskSettingsSchema',
    'taskModeSchema',
    'decisionsPartSchema',
    'decisionSchema',
    'decisionWordSchema',
    'decisionScopeSchema',
    'grantLimitsSchema',
    'answerSchema',
    'presenceAssertionSchema',
    'revokePartSchema',
    'todoSchema',
  ],
  'resumable stream': ['streamPositionSchema'],
  'agent command': ['commandPartSchema', 'commandListSchema', 'offeredCommandSchema'],
  story: ['storyPageSchema', 'storyEventSchema'],
} as const;

interface Declared {
  schema: z.core.$ZodType;
  path: string;
}

const declared = new Map<string, Declared>();
for (const { path, exports } of FILES)
  for (const [name, schema] of Object.entries(exports))
    if (isSchema(schema) && !declared.has(name)) declared.set(name, { schema, path });

const links: SchemaLinks = new Map(
  Object.values(SECTIONS)
    .flat()
    .map((name) => [find(name).schema, sectionLink(titleOf(name))]),
);

/** The text of each section, by its name. */
export const SCHEMA_TABLES = Object.fromEntries(
  Object.entries(SECTIONS).map(([section, names]) => [section, () => names.map(schemaText).join('\n\n')]),
);

function schemaText(name: string): string {
  const { schema, path } = find(name);
  const { comment = '', source } = sourceFile(path).constant(name) ?? {};
  const others: SchemaLinks = new Map([...links].filter(([each]) => each !== schema));
  const described = { schema, source, links: others };
  const rows = fieldRows(described);
  const body = isUnionOfObjects(schema)
    ? table(['type', 'fields', 'meaning'], optionRows(described))
    : rows.length > 0
      ? table(['field', 'type', 'meaning'], rows)
      : `One of: ${typeText(schema, others)}.`;
  return [`### ${titleOf(name)}`, prose(comment), body].filter((text) => text !== '').join('\n\n');
}

/** @returns words for the heading: `pending part` of `pendingActionsPartSchema` */
function titleOf(name: string): string {
  return name.replace(/Schema$/, '').replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

/** @throws Error if no file declares the schema */
function find(name: string): Declared {
  const found = declared.get(name);
  if (found === undefined) throw new Error(`No schema has the name ${name}.`);
  return found;
}

function isSchema(value: unknown): value is z.core.$ZodType {
  return typeof value === 'object' && value !== null && '_zod' in value;
}
