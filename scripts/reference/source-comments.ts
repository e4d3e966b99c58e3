/**
 * Reads the doc comments of schemas from their source. The texts are comments and not strings, because web pages
 * contain the same schemas.
 */
import { parse } from '@babel/parser';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';

type Statement = ReturnType<typeof parse>['program']['body'][number];
type Declarator = Extract<Statement, { type: 'VariableDeclaration' }>['declarations'][number];
type Expression = NonNullable<Declarator['init']>;
type Comments = Statement['leadingComments'];

/** A value in the source, with the file whose names it uses. */
export interface Source {
  file: SourceFile;
  value: Expression;
}

export interface CommentedSource {
  comment: string;
  source: Source | undefined;
}

export class SourceFile {
  readonly #path: string;
  readonly #constants = new Map<string, CommentedSource>();
  readonly #imports = new Map<string, { path: string; name: string }>();

  constructor(path: string) {
    this.#path = path;
    const { program } = parse(readFileSync(path, 'utf8'), { sourceType: 'module', plugins: ['typescript'] });
    for (const statement of program.body) this.#read(statement);
  }

  #read(statement: Statement): void {
    if (statement.type === 'ImportDeclaration' && statement.source.value.startsWith('.')) {
      const path = join(dirname(this.#path), statement.source.value);
      for (const each of statement.specifiers)
        if (each.type === 'ImportSpecifier' && each.imported.type === 'Identifier')
          this.#imports.set(each.local.name, { path, name: each.imported.name });
    }
    const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
    if (declared?.type !== 'VariableDeclaration') return;
    for (const { id, init } of declared.declarations)
      if (id.type === 'Identifier' && init)
        this.#constants.set(id.name, {
          comment: docComment(statement.leadingComments),
          source: { file: this, value: init },
        });
  }

  /** Returns a constant of this file, or of the file that it comes from. */
  constant(name: string): CommentedSource | undefined {
    const imported = this.#imports.get(name);
    return imported === undefined
      ? this.#constants.get(name)
      : sourceFile(imported.path).constant(imported.name);
  }
}

const files = new Map<string, SourceFile>();

export function sourceFile(path: string): SourceFile {
  const file = files.get(path) ?? new SourceFile(path);
  files.set(path, file);
  return file;
}

/**
 * Returns the argument that describes the inside of a schema: the fields of an object, the element of an array. Of a call
 * such as `defineTool({ … })`, returns the first argument.
 */
export function insideOf(source: Source | undefined): Source | undefined {
  const whole = resolved(source);
  if (whole?.value.type === 'CallExpression' && whole.value.callee.type === 'Identifier') {
    const [argument] = whole.value.arguments;
    return argument && { file: whole.file, value: expression(argument) };
  }
  const call = callOf(whole);
  if (call === undefined) return whole;
  const { file, method, object, args } = call;
  // `schema.optional()`: the schema is before the dot.
  if (!isZod(object)) return insideOf({ file, value: object });
  const first = args[method === 'discriminatedUnion' || method === 'record' ? 1 : 0];
  if (first === undefined) return undefined;
  const inside = { file, value: first };
  return /^(optional|exactOptional|nullable)$/.test(method) ? insideOf(inside) : resolved(inside);
}

/** Returns the fields of a schema with their comments. `extend` adds fields to another schema. */
export function schemaFields(source: Source | undefined): ReadonlyMap<string, CommentedSource> {
  const call = callOf(resolved(source));
  if (call === undefined || isZod(call.object)) {
    const inside = insideOf(source);
    return callOf(inside) === undefined ? fieldsOf(inside) : schemaFields(inside);
  }
  const { file, method, object, args } = call;
  const [added] = args;
  const before = schemaFields({ file, value: object });
  return method === 'extend' && added ? new Map([...before, ...fieldsOf({ file, value: added })]) : before;
}

/** Follows a name to its declaration, `schema.shape` to the schema, and `value as const` to the value. */
function resolved(source: Source | undefined): Source | undefined {
  if (source?.value.type === 'Identifier') return resolved(source.file.constant(source.value.name)?.source);
  if (source?.value.type === 'MemberExpression')
    return resolved({ file: source.file, value: expression(source.value.object) });
  if (source?.value.type === 'TSAsExpression')
    return resolved({ file: source.file, value: source.value.expression });
  return source;
}

interface Call {
  file: SourceFile;
  method: string;
  /** The object before the dot. */
  object: Expression;
  args: readonly Expression[];
}

function callOf(source: Source | undefined): Call | undefined {
  if (source?.value.type !== 'CallExpression') return undefined;
  const { callee, arguments: args } = source.value;
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return undefined;
  return {
    file: source.file,
    method: callee.property.name,
    object: expression(callee.object),
    args: args.map(expression),
  };
}

function isZod(value: Expression): boolean {
  return value.type === 'Identifier' && value.name === 'z';
}

/** Returns the fields of an object literal with their comments, including the fields of spread objects. */
export function fieldsOf(source: Source | undefined): ReadonlyMap<string, CommentedSource> {
  const fields = new Map<string, CommentedSource>();
  if (source?.value.type !== 'ObjectExpression') return fields;
  const { file } = source;
  for (const property of source.value.properties) {
    if (property.type === 'SpreadElement')
      for (const [name, field] of schemaFields({ file, value: expression(property.argument) }))
        fields.set(name, field);
    if (property.type === 'ObjectProperty' && property.key.type === 'Identifier')
      fields.set(property.key.name, {
        comment: docComment(property.leadingComments),
        source: { file, value: expression(property.value) },
      });
  }
  return fields;
}

/** Returns the items of an array literal with their comments. */
export function itemsOf(source: Source | undefined): readonly CommentedSource[] {
  const list = resolved(source);
  if (list?.value.type !== 'ArrayExpression') return [];
  const { file } = list;
  return list.value.elements.map((element) => ({
    comment: docComment(element?.leadingComments),
    source: element ? { file, value: expression(element) } : undefined,
  }));
}

/** Narrows the type of a node, because Babel's types include nodes that no schema contains. */
function expression(node: { type: string }): Expression {
  return z.custom<Expression>().parse(node);
}

/** Returns the last doc comment as one line, without the numbers of invariants and without tags. */
export function docComment(comments: Comments): string {
  const text = comments?.findLast(
    ({ type, value }) => type === 'CommentBlock' && value.startsWith('*'),
  )?.value;
  return (text ?? '')
    .slice(1)
    .replaceAll(/^\s*\* ?/gm, '')
    .replaceAll(/^- /gm, '')
    .replace(/@\w+[^]*$/, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ \([A-Z]\d+(, [A-Z]\d+)*\)/g, '')
    .replaceAll(/(^|\. )[A-Z]\d+: (\w)/g, (_, before: string, first: string) => before + first.toUpperCase())
    .trim();
}
