/** Reads the requirements of the specifications, and writes them as the page docs/conformance.md. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const requirement = z.strictObject({
  /** One section, or several with commas between them. */
  section: z.string().min(1),
  level: z.enum(['MUST', 'MUST NOT', 'SHOULD', 'SHOULD NOT', 'MAY']),
  text: z.string().min(1),
  verdict: z.enum(['kept', 'partly', 'not kept', 'not applicable']),
  behaviour: z.string(),
  /**
   * The file below `test/`, and the title of the test or its beginning. For a rule about documentation: the page, and its
   * heading. A dash: the product lacks the feature, so no test can show the rule.
   */
  test: z.string().regex(/^(?:[\w/.-]+: \S|—$)/),
});
type Requirement = z.infer<typeof requirement>;

const TABLES = [
  { file: 'a2a-1.0-server.txt', title: 'A2A 1.0, the server' },
  { file: 'a2a-1.0-client.txt', title: 'A2A 1.0, the bridge as a client' },
  { file: 'a2a-0.3.txt', title: 'A2A 0.3, where it differs' },
  { file: 'mcp.txt', title: 'MCP 2026-07-28, 2025-11-25 and 2025-06-18, the bridge as a server' },
] as const;

export interface Table {
  title: string;
  requirements: Requirement[];
}

/** @param root the project's directory @throws Error that names a line with another form */
export function readTables(root: string): Promise<Table[]> {
  return Promise.all(
    TABLES.map(async ({ file, title }) => {
      const text = await readFile(join(root, 'test', 'conformance', file), 'utf8');
      const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
      return { title, requirements: lines.map(requirementIn) };
    }),
  );
}

/** @returns the sections of A2A 1.0 that have a MUST or a SHOULD */
export async function readSections(root: string): Promise<string[]> {
  const text = await readFile(join(root, 'test', 'conformance', 'a2a-1.0-sections.txt'), 'utf8');
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

function requirementIn(line: string): Requirement {
  const [section, level, text, verdict, behaviour, test, ...more] = line
    .split('|')
    .map((cell) => cell.trim());
  const parsed = requirement.safeParse({ section, level, text, verdict, behaviour, test });
  if (parsed.success && more.length === 0) return parsed.data;
  throw new Error(`This requirement does not have six valid cells: ${line}`);
}

/** A test or a page that shows how the product meets a requirement. */
export interface Evidence {
  type: 'test' | 'page';
  /** Relative to the project. */
  file: string;
  /** The beginning of a test's title, or a whole heading. */
  title: string;
}

/** @returns undefined for a dash */
export function evidenceOf({ test }: Requirement): Evidence | undefined {
  const [file = '', ...words] = test.split(': ');
  if (words.length === 0) return undefined;
  const title = words.join(': ');
  if (file.endsWith('.md')) return { type: 'page', file, title };
  // Several test files share the tests of `support/`.
  return { type: 'test', file: `test/${file}${file.startsWith('support/') ? '' : '.test'}.ts`, title };
}

const INTRODUCTION = `# Conformance

For implementers of A2A and MCP. Each row has a requirement of a specification, the behaviour of this product, and a test that shows it.
A row can join requirements that one behaviour meets. \`partly\` and \`not kept\` are gaps, and the row describes the gap. A dash in
place of a test means that the product does not have the feature. The rules for gRPC together have one row or none, as
have those for custom bindings and those for the specification's own text.

Sources: A2A [1.0.1](https://github.com/a2aproject/A2A/blob/v1.0.1/docs/specification.md) and
[0.3.0](https://github.com/a2aproject/A2A/blob/v0.3.0/docs/specification.md), and the
[MCP revisions](https://modelcontextprotocol.io/specification).

\`npm run conformance\` writes this page from the data in \`test/conformance/\`. A test checks that the page is up to date and
that each named test exists. \`kept\` and \`partly\` need a test. A rule about documentation needs a page instead. Each section of
A2A 1.0 with a MUST or a SHOULD needs a row.
`;

export function conformancePage(tables: readonly Table[]): string {
  return [INTRODUCTION, ...tables.map(sectionOf)].join('\n');
}

function sectionOf({ title, requirements }: Table): string {
  const gaps = requirements.filter(({ verdict }) => verdict === 'partly' || verdict === 'not kept');
  const rows = requirements.map(
    ({ section: at, level, text, verdict, behaviour, test }) =>
      `| ${at} | ${level} | ${text} | ${verdict} | ${behaviour} | ${escaped(test)} |`,
  );
  return `## ${title}

${requirements.length} rows, ${gaps.length} of them with a gap.

<!-- prettier-ignore-start -->
| section | level | requirement | verdict | behaviour | test |
| --- | --- | --- | --- | --- | --- |
${rows.join('\n')}
<!-- prettier-ignore-end -->
`;
}

/** Escapes the characters of a title that have a meaning in Markdown. */
function escaped(test: string): string {
  return test.replaceAll(/[*_<>`]/g, String.raw`\$&`);
}
