/** Writes a section for each MCP tool: what it does, its parameters and its result. */
import type { z } from 'zod';
import { clientSessionStateSchema } from '../../bridge/dialects/session-state-for-client.ts';
import { decisionSchema } from '../../shared/protocol/tool-approval.ts';
import { TOOLS } from '../../bridge/mcp/server/mcp-server.ts';
import type { BridgeTool, BridgeToolDeclaration } from '../../bridge/mcp/tool/tool.ts';
import { cardStateSchema } from '../../bridge/approvals/approval-card.ts';
import { sessionResultSchema } from '../../bridge/mcp/reports/session-result.ts';
import { code, prose, type Row, sectionLink, table } from './markdown.ts';
import { fieldRows, type SchemaLinks } from './schema-fields.ts';
import { itemsOf, schemaFields, sourceFile } from './source-comments.ts';

const HEAD = ['field', 'type', 'meaning'];

/** Results of several tools. */
const SHARED = [
  { title: 'Session result', schema: sessionResultSchema },
  { title: 'Card result', schema: cardStateSchema },
] as const;

const links: SchemaLinks = new Map<z.core.$ZodType, string>([
  [clientSessionStateSchema, sectionLink('session state')],
  [decisionSchema, sectionLink('decision', 'extensions.md')],
]);

/** The sources of the results, for their doc comments. */
const sources = new Map(
  itemsOf(sourceFile('bridge/mcp/server/mcp-server.ts').constant('TOOLS')?.source).map(({ source }, at) => [
    TOOLS[at]?.declaration.output,
    schemaFields(source).get('output')?.source,
  ]),
);

export function toolsSection(): string {
  const tools = TOOLS.map(toolText);
  const results = SHARED.map(({ title, schema }) => `### ${title}\n\n${table(HEAD, resultRows(schema))}`);
  return [...tools, ...results].join('\n\n');
}

function toolText({ declaration }: BridgeTool): string {
  const { name, description, annotations, card } = declaration;
  const facts = [
    annotations.readOnlyHint ? 'Changes nothing.' : '',
    annotations.destructiveHint ? 'May have side effects.' : '',
    annotations.idempotentHint && !annotations.readOnlyHint ? 'A repeated call has no further effect.' : '',
    card === 'uses' ? 'Only for clients with MCP Apps, which hide it from the model.' : '',
  ];
  return [
    `### ${code(name)}`,
    prose(typeof description === 'string' ? description : description('auto')),
    facts.filter((fact) => fact !== '').join(' '),
    table(['parameter', 'type', 'meaning'], parameterRows(declaration)),
    resultText(declaration),
  ]
    .filter((text) => text !== '')
    .join('\n\n');
}

/** Returns the rows of the parameters. Omits a field of a list's items if a parameter has the same name. */
export function parameterRows({ input }: Pick<BridgeToolDeclaration, 'input'>): Row[] {
  const rows = fieldRows({ schema: input, links });
  const names = rows.map(([name = '']) => name.replace('?', ''));
  return rows.filter(([name = '']) => !/\[\]\.(?=\w)/.test(name) || !names.includes(lastOf(name)));
}

function lastOf(name: string): string {
  return code(/\.(\w+)`/.exec(name)?.[1] ?? '');
}

function resultText({ output }: Pick<BridgeToolDeclaration, 'output'>): string {
  const shared = SHARED.find(({ schema }) => hasFieldsOf(output, schema));
  if (shared === undefined) return `Result:\n\n${table(HEAD, resultRows(output))}`;
  const link = `Result: ${sectionLink(shared.title.toLowerCase())}`;
  const known = new Set(resultRows(shared.schema).map((row) => row.join('|')));
  const own = output === shared.schema ? [] : resultRows(output).filter((row) => !known.has(row.join('|')));
  return own.length === 0 ? `${link}.` : `${link}, with this difference:\n\n${table(HEAD, own)}`;
}

function hasFieldsOf(schema: z.ZodObject, other: z.ZodObject): boolean {
  return Object.keys(other.shape).every((name) => Object.hasOwn(schema.shape, name));
}

function resultRows(schema: z.ZodObject): Row[] {
  return fieldRows({ schema, source: sources.get(schema), links });
}
