/**
 * The part of `@jest/globals` that the unit tests of the core use, as a small runner: a test file runs in a plain Node
 * process. Titles are not formatted.
 */
export { expect } from 'expect';

type Act = () => unknown;
type Body = (...args: never[]) => unknown;

interface Suite {
  parent: Suite | undefined;
  beforeAll: Act[];
  beforeEach: Act[];
  afterEach: Act[];
  afterAll: Act[];
  tests: { title: string; run: Act }[];
  suites: Suite[];
}

function suite(parent?: Suite): Suite {
  return { parent, beforeAll: [], beforeEach: [], afterEach: [], afterAll: [], tests: [], suites: [] };
}

const root = suite();
let current = root;

export const beforeAll = (act: Act): void => void current.beforeAll.push(act);
export const beforeEach = (act: Act): void => void current.beforeEach.push(act);
export const afterEach = (act: Act): void => void current.afterEach.push(act);
export const afterAll = (act: Act): void => void current.afterAll.push(act);
export const jest = { setTimeout: (): void => undefined };

/** Declares a test or a suite for each row. If a row is a list, its elements are the arguments. */
function each(declare: (title: string, body: Act) => void) {
  return (rows: readonly unknown[]) =>
    (title: string, body: Body): void => {
      for (const row of rows) {
        const args: readonly unknown[] = Array.isArray(row) ? row : [row];
        declare(title, () => Reflect.apply(body, undefined, args));
      }
    };
}

function declareTest(title: string, body: Act): void {
  current.tests.push({ title, run: body });
}

function declareSuite(_title: string, body: Act): void {
  const inner = suite(current);
  current.suites.push(inner);
  current = inner;
  body();
  current = inner.parent ?? root;
}

const skip = (): void => undefined;
export const it = Object.assign(declareTest, { each: each(declareTest), skip });
export const test = it;
export const describe = Object.assign(declareSuite, { each: each(declareSuite), skip });

/** Runs every test until one fails. @throws an error with the title of that test */
export async function runTests(limitMs: number): Promise<void> {
  await runSuite(root, limitMs);
}

async function runSuite(at: Suite, limitMs: number): Promise<void> {
  try {
    for (const act of at.beforeAll) await act();
    await runTestsOf(at, limitMs);
  } finally {
    for (const act of at.afterAll) await within(limitMs, act);
  }
}

async function runTestsOf(at: Suite, limitMs: number): Promise<void> {
  for (const { title, run } of at.tests) {
    try {
      try {
        for (const act of hooks(at, 'beforeEach').toReversed()) await act();
        await within(limitMs, run);
      } finally {
        // The process runs further tests. So a failed test must run its clean-up too.
        for (const act of hooks(at, 'afterEach')) await within(limitMs, act);
      }
    } catch (cause) {
      throw new Error(title, { cause });
    }
  }
  for (const inner of at.suites) await runSuite(inner, limitMs);
}

/** Returns the hooks of a suite and of its parent suites, the innermost first. */
function hooks(at: Suite, name: 'beforeEach' | 'afterEach'): Act[] {
  const own = name === 'beforeEach' ? at[name].toReversed() : at[name];
  return at.parent === undefined ? own : [...own, ...hooks(at.parent, name)];
}

async function within(limitMs: number, run: Act): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it took longer than ${limitMs} ms`)), limitMs);
  });
  try {
    await Promise.race([run(), late]);
  } finally {
    clearTimeout(timer);
  }
}
