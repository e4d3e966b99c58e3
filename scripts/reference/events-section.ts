/** Writes the table of a task's events from the type `TaskEvent` and its doc comments. */
import { readFileSync } from 'node:fs';
import { parse } from '@babel/parser';
import { code, table } from './markdown.ts';
import { docComment } from './source-comments.ts';

const EVENTS = 'a2a-server/task/events.ts';

type Statement = ReturnType<typeof parse>['program']['body'][number];
type Alias = Extract<Statement, { type: 'TSTypeAliasDeclaration' }>;
type Type = Alias['typeAnnotation'];
type Literal = Extract<Type, { type: 'TSTypeLiteral' }>;

export function eventsSection(): string {
  const source = readFileSync(EVENTS, 'utf8');
  const { program, comments } = parse(source, { sourceType: 'module', plugins: ['typescript'] });
  const members = membersOf(program.body, 'TaskEvent');
  const rows = members.map((member, index) => {
    // The parser gives a comment before `|` to no member. So this code takes the comments between two members.
    const before = members[index - 1]?.end ?? 0;
    const own = comments?.filter(
      ({ start, end }) => (start ?? 0) >= before && (end ?? 0) <= (member.start ?? 0),
    );
    return rowOf(member, docComment(index === 0 ? own?.slice(-1) : own), source);
  });
  return table(['event', 'fields', 'meaning'], rows);
}

/** Returns the objects of the union with this name. */
function membersOf(body: readonly Statement[], name: string): Literal[] {
  const declared = body.map((statement) =>
    statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement,
  );
  const alias = declared.find(
    (each): each is Alias => each?.type === 'TSTypeAliasDeclaration' && each.id.name === name,
  );
  if (alias?.typeAnnotation.type !== 'TSUnionType') throw new Error(`${EVENTS} has no union ${name}`);
  return alias.typeAnnotation.types.filter((each): each is Literal => each.type === 'TSTypeLiteral');
}

function rowOf(member: Literal, meaning: string, source: string): string[] {
  const fields: string[] = [];
  const meanings = [meaning];
  let event = '';
  for (const field of member.members) {
    if (field.type !== 'TSPropertySignature' || field.key.type !== 'Identifier' || !field.typeAnnotation)
      continue;
    const { name } = field.key;
    const { start, end } = field.typeAnnotation.typeAnnotation;
    const type = source.slice(start ?? 0, end ?? 0).replaceAll(/\s+/g, ' ');
    if (name === 'type') event = type.replaceAll("'", '');
    else fields.push(code(`${name}${field.optional === true ? '?' : ''}: ${type}`));
    const comment = docComment(field.leadingComments);
    if (comment !== '') meanings.push(`${code(name)}: ${comment}`);
  }
  return [code(event), fields.join(', '), meanings.filter((text) => text !== '').join(' ')];
}
