/**
 * Makes small faults in TypeScript source: another comparison, a fixed condition, a removed statement, another constant. The
 * tests of the source should find each of them. Texts, sentences with values in them, and log lines stay: the compiler finds a
 * wrong word of a union. Pure.
 */
import { parseSync } from '@swc/core';
import { z } from 'zod';

export interface Mutation {
  kind: 'comparison' | 'logic' | 'condition' | 'arithmetic' | 'constant' | 'statement' | 'call';
  /** The positions of the replaced text, in UTF-16 units. */
  from: number;
  to: number;
  text: string;
  /** The line number in the source, from 1. */
  line: number;
}

const OPERATORS: Readonly<Record<string, readonly [Mutation['kind'], string]>> = {
  '===': ['comparison', '!=='],
  '!==': ['comparison', '==='],
  '<': ['comparison', '<='],
  '<=': ['comparison', '<'],
  '>': ['comparison', '>='],
  '>=': ['comparison', '>'],
  '&&': ['logic', '||'],
  '||': ['logic', '&&'],
  '+': ['arithmetic', '-'],
  '-': ['arithmetic', '+'],
  '*': ['arithmetic', '/'],
  '/': ['arithmetic', '*'],
};

const METHODS: Readonly<Record<string, string>> = { some: 'every', every: 'some', min: 'max', max: 'min' };

/** Expressions with a type part. The mutations do not change that part. */
const TYPED = new Set(['TsAsExpression', 'TsNonNullExpression', 'TsSatisfiesExpression', 'TsConstAssertion']);
const LEFT_OUT = /^(?:Ts|Import|ExportNamed|ExportAll)/;
/** A call that writes a log line: `log.warn(…)`, `this.#log.info(…)`. */
const LOG_CALL = /^(?:this\.)?#?log\.\w+\(/u;
/** Matches a text with a word next to a space. */
const SENTENCE = /[a-z]{2}[,;:.]? | [a-z]{2}/iu;
const TEXTS = new Set(['StringLiteral', 'TemplateLiteral']);

const node = z.looseObject({ type: z.string() });
const spanned = z.looseObject({ span: z.object({ start: z.number(), end: z.number() }) });

const quasis = z.array(z.looseObject({ raw: z.string() }));

/** A node of the syntax tree, with UTF-16 positions. */
interface Node {
  type: string;
  from: number;
  to: number;
  fields: Readonly<Record<string, unknown>>;
}

/** Returns all mutations of a source, in the order of the text. */
export function mutationsOf(source: string): Mutation[] {
  // swc continues its positions from earlier sources. So the first token gives the base of the positions.
  const tree = parseSync(`;${source}`, { syntax: 'typescript', target: 'es2023' });
  const position = positionsIn(source, tree.span.start + 1);
  const found: Mutation[] = [];
  const nodeOf = (value: unknown): Node | undefined => {
    const parsed = node.safeParse(value).data;
    if (parsed === undefined) return undefined;
    const { span } = spanned.safeParse(value).data ?? { span: { start: 0, end: 0 } };
    return { type: parsed.type, from: position(span.start), to: position(span.end), fields: parsed };
  };
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const each of value) visit(each);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    const at = nodeOf(value);
    if (at === undefined) {
      for (const each of Object.values(value)) visit(each);
      return;
    }
    if (TYPED.has(at.type)) return visit(at.fields['expression']);
    if (LEFT_OUT.test(at.type) || isWording(at, source)) return;
    for (const { from, to, text, kind } of ofNode(at, nodeOf, source))
      found.push({ kind, from, to, text, line: source.slice(0, from).split('\n').length });
    for (const each of Object.values(at.fields)) visit(each);
  };
  visit(tree.body);
  return found.toSorted((a, b) => a.from - b.from || a.to - b.to);
}

export function mutated(source: string, { from, to, text }: Mutation): string {
  return `${source.slice(0, from)}${text}${source.slice(to)}`;
}

/** Returns true for a sentence with values in it, and for a log line. */
function isWording({ type, from, to, fields }: Node, source: string): boolean {
  switch (type) {
    case 'TemplateLiteral':
      return quasis.parse(fields['quasis']).some(({ raw }) => SENTENCE.test(raw));
    case 'ExpressionStatement':
      return LOG_CALL.test(source.slice(from, to));
    default:
      return false;
  }
}

type NodeOf = (value: unknown) => Node | undefined;

function ofNode(at: Node, nodeOf: NodeOf, source: string): Omit<Mutation, 'line'>[] {
  const whole = { from: at.from, to: at.to };
  switch (at.type) {
    case 'BinaryExpression':
      return ofOperator(at, nodeOf, source);
    case 'UnaryExpression': {
      const argument = nodeOf(at.fields['argument']);
      if (at.fields['operator'] !== '!' || argument === undefined) return [];
      return [{ kind: 'logic', ...whole, text: source.slice(argument.from, argument.to) }];
    }
    case 'BooleanLiteral':
      return [{ kind: 'constant', ...whole, text: String(at.fields['value'] !== true) }];
    case 'NumericLiteral': {
      // A limit such as 160 could also be 161, so only 0 and 1 are changed.
      const value = Number(at.fields['value']);
      return value === 0 || value === 1 ? [{ kind: 'constant', ...whole, text: String(1 - value) }] : [];
    }
    case 'IfStatement':
    case 'ConditionalExpression':
      return ofCondition(nodeOf(at.fields['test']), ['true', 'false']);
    case 'WhileStatement':
    case 'ForStatement':
      return ofCondition(nodeOf(at.fields['test']), ['false']);
    case 'ExpressionStatement':
      return [{ kind: 'statement', ...whole, text: ';' }];
    case 'CallExpression': {
      const property = nodeOf(nodeOf(at.fields['callee'])?.fields['property']);
      const other = METHODS[String(property?.fields['value'])];
      return property === undefined || other === undefined
        ? []
        : [{ kind: 'call', from: property.from, to: property.to, text: other }];
    }
    default:
      return [];
  }
}

function ofOperator({ fields }: Node, nodeOf: NodeOf, source: string): Omit<Mutation, 'line'>[] {
  const operator = String(fields['operator']);
  const [left, right] = [nodeOf(fields['left']), nodeOf(fields['right'])];
  const other = OPERATORS[operator];
  if (other === undefined || left === undefined || right === undefined) return [];
  // Subtraction of a text is refused by the compiler, so this mutation proves nothing.
  if (other[0] === 'arithmetic' && [left, right].some(({ type }) => TEXTS.has(type))) return [];
  const from = source.indexOf(operator, left.to);
  if (from < 0 || from >= right.from) return [];
  return [{ kind: other[0], from, to: from + operator.length, text: other[1] }];
}

function ofCondition(test: Node | undefined, values: readonly string[]): Omit<Mutation, 'line'>[] {
  if (test === undefined) return [];
  return values.map((text) => ({ kind: 'condition', from: test.from, to: test.to, text }));
}

/** @param base swc's position of the first byte. @returns the UTF-16 position of a position of swc, which counts bytes */
function positionsIn(source: string, base: number): (position: number) => number {
  const bytes = Buffer.from(source);
  const ascii = bytes.length === source.length;
  return (position) => (ascii ? position - base : bytes.toString('utf8', 0, position - base).length);
}
