import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MAX_LENGTH, MAX_STEPS, readMessage } from '../../../../../a2a-server/models/offline/read-message.ts';
import { callsOf, type PlannedCall, type Step } from '../../../../../a2a-server/models/offline/step.ts';

function write(path: string, content: string): PlannedCall {
  return { tool: 'write-file', input: { path, content } };
}
function append(path: string, content: string): PlannedCall {
  return { tool: 'append-file', input: { path, content } };
}
function edit(path: string, oldText: string, newText: string): PlannedCall {
  return { tool: 'edit-file', input: { path, oldText, newText } };
}
function read(path: string): PlannedCall {
  return { tool: 'read-file', input: { path } };
}
function list(path?: string): PlannedCall {
  return { tool: 'list-files', input: path === undefined ? {} : { path } };
}
function search(input: { pattern?: string; glob?: string; path?: string }): PlannedCall {
  return { tool: 'search-files', input };
}
function run(command: string): PlannedCall {
  return { tool: 'run-shell-command', input: { command } };
}
function called(tool: string, input: Record<string, unknown>): PlannedCall {
  return { tool, input };
}
function fetched(url: string): PlannedCall {
  return { tool: 'fetch', input: { url } };
}
function crawled(query: string, maxPages?: number): PlannedCall {
  return {
    tool: 'crawl',
    input: { url: 'https://example.com', query, ...(maxPages !== undefined && { maxPages }) },
  };
}
function wait(seconds: number): PlannedCall {
  return { tool: 'wait', input: { seconds } };
}
function say(text: string): Step {
  return { type: 'say', text };
}
/** A step as the reader gives it back; what is short here is spelled out. */
function stepOf(step: PlannedCall | Step): Step {
  return 'type' in step ? step : { type: 'call', ...step };
}

const FENCE = '```';
const MARKS = [
  '"',
  "'",
  '`',
  FENCE,
  '“',
  '”',
  '\\',
  '{',
  '}',
  '[',
  ':',
  ';',
  '\n',
  ' ',
  ',',
  '.',
  '*',
  '{"plan": [',
];
const WORDS =
  ' then | and | with | to | in | for |1. |create |write |append |replace |edit |read |list |find |run |fetch |crawl |up to 5 pages|wait |say |the |file |a.md'.split(
    '|',
  );

describe('one step', () => {
  test.each<[string, PlannedCall | Step]>([
    ['Create test.md with hello', write('test.md', 'hello')],
    ['create test.md with "hello"', write('test.md', 'hello')],
    ["Create a new file named 'my notes.md' with 'it is here'.", write('my notes.md', 'it is here')],
    ['Please create the file src/a.ts containing `const a = 1;`', write('src/a.ts', 'const a = 1;')],
    ['create a.md with the content hello world', write('a.md', 'hello world')],
    ['create a.md with content', write('a.md', 'content')],
    ['create a.md: hello', write('a.md', 'hello')],
    ['create empty.md', write('empty.md', '')],
    ['Could you please create a.md with “smart quotes”?', write('a.md', 'smart quotes')],
    ['create a.md with "two\\nlines and a \\"quote\\""', write('a.md', 'two\nlines and a "quote"')],
    ["create a.md with 'C:\\new'", write('a.md', 'C:\\new')],
    ["create a.md with don't stop", write('a.md', "don't stop")],
    ["create a.md with 'tis the season", write('a.md', "'tis the season")],
    ['create a.md with "line one\nline two"', write('a.md', 'line one\nline two')],
    [
      `create a.ts with\n${FENCE}ts\nconst a = 'x';\nthen();\n${FENCE}`,
      write('a.ts', "const a = 'x';\nthen();\n"),
    ],
    [`create a.ts with ${FENCE}inline${FENCE}`, write('a.ts', 'inline')],
    [`create e.md with\n${FENCE}\n${FENCE}`, write('e.md', '')],
    ['write "hello" to test.md', write('test.md', 'hello')],
    ['write hello world into the file test.md', write('test.md', 'hello world')],
    ['write the text hello to test.md', write('test.md', 'hello')],
    ['Write test.md with hello', write('test.md', 'hello')],
    ['write "a; b then c" to x', write('x', 'a; b then c')],
    ['append " more" to log.md', append('log.md', ' more')],
    ['append to log.md: more', append('log.md', 'more')],
    ['append to the file log.md with "more"', append('log.md', 'more')],
    ['add more text to log.md', append('log.md', 'more text')],
    ['replace "x" with "y" in a.ts', edit('a.ts', 'x', 'y')],
    ['replace foo with bar baz in the file a.ts', edit('a.ts', 'foo', 'bar baz')],
    ['replace "x" with "" in a.ts', edit('a.ts', 'x', '')],
    ['change foo to bar in a.ts', edit('a.ts', 'foo', 'bar')],
    ['edit a.ts: replace "x" with "y"', edit('a.ts', 'x', 'y')],
    ['edit the file a.ts and change x to y', edit('a.ts', 'x', 'y')],
    ['edit "my file.ts", replace `in` with `out`', edit('my file.ts', 'in', 'out')],
    [
      'edit a.ts: replace "a" with "b" and "c" with "d" and replace "e" with ""',
      called('multi-edit', {
        path: 'a.ts',
        edits: [
          { oldText: 'a', newText: 'b' },
          { oldText: 'c', newText: 'd' },
          { oldText: 'e', newText: '' },
        ],
      }),
    ],
    ['move a.md to docs/a.md', called('move-file', { path: 'a.md', to: 'docs/a.md' })],
    [
      'rename the file "my notes.md" to notes.md.',
      called('move-file', { path: 'my notes.md', to: 'notes.md' }),
    ],
    ['delete a.md', called('delete-file', { path: 'a.md' })],
    ['remove the directory docs recursively', called('delete-file', { path: 'docs', recursive: true })],
    ['create "a b.md": hello', write('a b.md', 'hello')],
    ['run cp "a b" .', run('cp "a b" .')],
    ['run cat "a b".txt', run('cat "a b".txt')],
    ['read test.md', read('test.md')],
    ['Read the file test.md.', read('test.md')],
    ['show the contents of "a b.md"', read('a b.md')],
    ['read .', read('.')],
    ['list', list()],
    ['List all files.', stepOf(list())],
    ['list files in src', list('src')],
    ['list the directory src/lib', list('src/lib')],
    ['search for "TODO" in src/**/*.ts', search({ pattern: 'TODO', glob: 'src/**/*.ts' })],
    ['search for TODO in src', search({ pattern: 'TODO', path: 'src' })],
    ['search for the word TODO in "my src"', search({ pattern: 'TODO', path: 'my src' })],
    ['find files named *.ts in src', search({ glob: '*.ts', path: 'src' })],
    ['grep "two words"', search({ pattern: 'two words' })],
    ['find all files named *.md', search({ glob: '*.md' })],
    ['find *.md', search({ glob: '*.md' })],
    ['run npm test', run('npm test')],
    ['run `for i in 1 2; do echo $i; done`', run('for i in 1 2; do echo $i; done')],
    ['run echo "a; b" \'c\'', run('echo "a; b" \'c\'')],
    ['execute the command ls -la', run('ls -la')],
    ['fetch https://example.com/a?b=c', fetched('https://example.com/a?b=c')],
    ['Download the page https://example.com.', fetched('https://example.com')],
    ['crawl https://example.com for "opening hours"', crawled('opening hours')],
    ['crawl the site https://example.com for prices and hours up to 5 pages', crawled('prices and hours', 5)],
    ['crawl https://example.com for "x" up to 1 page', crawled('x', 1)],
    ['crawl https://example.com for what is up to date', crawled('what is up to date')],
    ['wait 2 seconds', wait(2)],
    ['wait for 500 ms', wait(0.5)],
    ['wait 1.5s.', wait(1.5)],
    ['wait 2 minutes', wait(120)],
    ['wait 3', wait(3)],
    ['ask me which colour', called('ask-person', { question: 'which colour' })],
    ['ask "What now; or then?"', called('ask-person', { question: 'What now; or then?' })],
    [
      'ask me which colour, with choices red, light blue or "neither, or both"',
      called('ask-person', {
        question: 'which colour',
        choices: [{ label: 'red' }, { label: 'light blue' }, { label: 'neither, or both' }],
      }),
    ],
    [
      'ask us "Which choices?" choices: a or b.',
      called('ask-person', { question: 'Which choices?', choices: [{ label: 'a' }, { label: 'b' }] }),
    ],
    ['say hello there', say('hello there')],
    ['Say "hello; there"', say('hello; there')],
  ])('%j', (text, step) => {
    expect(readMessage(text)).toEqual({ steps: [stepOf(step)], misread: [] });
  });
});

describe('several steps', () => {
  const both = [stepOf(write('a.md', 'hello')), stepOf(read('a.md'))];
  test.each([
    'create a.md with hello then read a.md',
    'Create a.md with hello, then read a.md.',
    'Create a.md with hello. Then read a.md.',
    'create a.md with hello and then read a.md',
    'create a.md with "hello", and then, please, read a.md',
    'create a.md with hello; read a.md',
    'create a.md with hello;then read a.md',
    'create a.md with hello\nread a.md',
    'create a.md with hello\r\n\r\nread a.md\r\n',
    '1. Create a.md with hello\n2. Read a.md',
    '1) create a.md with hello\n2) then read a.md',
    '- create a.md with hello\n- read a.md',
    'First, create a.md with hello\nFinally, read a.md',
  ])('%j', (text) => {
    expect(readMessage(text)).toEqual({ steps: both, misread: [] });
  });
});

describe('a JSON plan', () => {
  const plan = {
    plan: [
      { tool: 'write-file', input: { path: 'a.md', content: 'x; then } y' } },
      { together: [{ tool: 'read-file', input: { path: 'a.md' } }, { tool: 'list-files' }] },
      { say: 'chunk', repeat: 3 },
      { say: 'done' },
    ],
  };
  const steps: Step[] = [
    stepOf(write('a.md', 'x; then } y')),
    { type: 'together', calls: [read('a.md'), list()] },
    { type: 'say', text: 'chunk', repeat: 3 },
    say('done'),
  ];

  test.each([
    ['bare', JSON.stringify(plan)],
    ['over several lines', JSON.stringify(plan, null, 2)],
    ['in a fence', `${FENCE}json\n${JSON.stringify(plan, null, 2)}\n${FENCE}`],
    [
      'in a fence after an introduction',
      `Please follow this plan:\n\n${FENCE}\n${JSON.stringify(plan)}\n${FENCE}\n`,
    ],
  ])('is read %s', (_how, text) => {
    expect(readMessage(text)).toEqual({ steps, misread: [] });
  });

  test('stands among words of the language', () => {
    const reading = readMessage(`say one\n{"plan": [{"say": "two"}]}\nsay three`);
    expect(reading.steps.map((step) => step.type === 'say' && step.text)).toEqual(['one', 'two', 'three']);
  });

  test.each([
    ['{"plan": [', 'not valid JSON'],
    ['{"steps": []}', 'not a plan'],
    ['{"plan": [{"tool": "wait", "say": "x"}]}', 'at plan.0: a step is'],
    ['{"plan": [{"say": "x", "repeat": 0}]}', 'not a plan'],
    ['{"plan": [{"say": "xx", "repeat": 1000000000}]}', 'not a plan'],
    [
      `{"plan": [{"tool": "wait", "input": {"a": ${'['.repeat(5000)}${']'.repeat(5000)}}}]}`,
      'deeper than 100',
    ],
  ])('%.60s is not understood, and says why', (text, why) => {
    const reading = readMessage(text);
    expect(reading.steps).toEqual([]);
    expect(reading.misread).toEqual([{ text, why: expect.stringContaining(why) }]);
  });
});

describe('what is not understood', () => {
  test.each([
    ['hello', 'no verb'],
    ['destroy a.md', 'no verb'],
    ['fetch', 'one URL'],
    ['fetch https://a.example https://b.example', 'one URL'],
    ['crawl https://example.com', 'what to look for'],
    ['crawl https://example.com for', 'what to look for'],
    ['create', 'name of the file is missing'],
    ['ask me', 'question is missing'],
    ['ask me which, with choices', 'choices are missing'],
    ['create my file with hello', '`with`'],
    ['create a.md with "x" and b.md with "y"', 'closing quote'],
    ['write hello', 'expected a text'],
    ['append to a.md', 'text to append is missing'],
    ['append "" to a.md', 'empty'],
    ['search for ""', 'empty'],
    ['replace x in a.md', '`with`'],
    ['replace x with y', '`in`'],
    ['edit a.md', 'replace "X" with "Y"'],
    ['move a.md', 'its new name'],
    ['rename a.md to b.md and c.md', 'its new name'],
    ['delete a.md and b.md', '`recursively`'],
    ['read a.md and b.md', 'one file'],
    ['list my directory', 'one directory'],
    ['search for', 'missing'],
    ['run', 'missing'],
    ['run ""', 'missing'],
    ['wait a while', 'a time'],
    ['wait 5 parsecs', 'a time'],
    ['say', 'missing'],
  ])('%j is said with its reason, and nothing is done for it', (text, why) => {
    expect(readMessage(text)).toEqual({ steps: [], misread: [{ text, why: expect.stringContaining(why) }] });
  });

  test('leaves the steps around it alone', () => {
    const { steps, misread } = readMessage('read a.md; dance a little; read b.md');
    expect(steps).toEqual([stepOf(read('a.md')), stepOf(read('b.md'))]);
    expect(misread.map(({ text }) => text)).toEqual(['dance a little']);
  });

  test('a message without a word is neither a step nor a mistake', () => {
    for (const text of ['', ' \n;; then ', 'please', '1.'])
      expect(readMessage(text)).toEqual({ steps: [], misread: [] });
  });

  test('a message that is too long is not followed in part', () => {
    const { steps, misread } = readMessage(`read a.md\n${'x'.repeat(MAX_LENGTH)}`);
    expect(steps).toEqual([]);
    expect(misread).toHaveLength(1);
  });

  test('steps beyond the limit are said not to be done', () => {
    const { steps, misread } = readMessage('list;'.repeat(MAX_STEPS + 5));
    expect(steps).toHaveLength(MAX_STEPS);
    expect(misread[0]?.text).toBe('5 more');
  });
});

describe('X3 any text at all', () => {
  const morsel = fc.oneof(fc.constantFrom(...MARKS, ...WORDS), fc.string({ unit: 'binary', maxLength: 5 }));
  const text = fc.array(morsel, { maxLength: 60 }).map((parts) => parts.join(''));

  test('is read without an error, and every call is well formed', () => {
    fc.assert(
      fc.property(text, (source) => {
        for (const step of readMessage(source).steps)
          for (const call of callsOf(step)) {
            expect(call.tool).not.toBe('');
            expect(JSON.parse(JSON.stringify(call.input))).toEqual(call.input);
          }
      }),
      { numRuns: 2_000 },
    );
  });

  test('what is said to be misread stands in the text', () => {
    fc.assert(
      fc.property(text, (source) => {
        for (const { text: part } of readMessage(source).misread) expect(source.includes(part)).toBe(true);
      }),
      { numRuns: 1_000 },
    );
  });

  test('quoted text is written exactly, whatever it says', () => {
    const quotable = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((content) => !/[`\r]/.test(content));
    fc.assert(
      fc.property(quotable, fc.stringMatching(/^[a-z]{1,8}\.[a-z]{1,3}$/), (content, path) => {
        expect(readMessage(`create ${path} with \`${content}\` then read ${path}`)).toEqual({
          steps: [stepOf(write(path, content)), stepOf(read(path))],
          misread: [],
        });
      }),
    );
  });

  test('a million quotes are read', () => {
    expect(readMessage(' "'.repeat(MAX_LENGTH / 2)).steps).toEqual([]);
  });

  // Quadratic reading of any of these would take minutes.
  const LONG = 250_000;
  test.each(
    [
      '"',
      "'",
      '`',
      ' "',
      " '",
      ' `',
      " 'a",
      ' "\\',
      `${FENCE}\n`,
      ` ${FENCE}`,
      '“ ',
      '{',
      '{;',
      ';{',
      '{"',
      ' {a} ',
    ].concat([
      'then ',
      'create ',
      'create a with "x" ',
      'replace a with ',
      'write a to ',
      'append to ',
      'the ',
      'read the file ',
      'wait 1',
      'find *',
      '.',
      ', and then ',
      ' ',
      '\n',
      'x',
      '- ',
      `create a with:\n${FENCE}`,
    ]),
  )('%j repeated to a quarter of a million characters is read in linear time', (morsel_) => {
    const { steps, misread } = readMessage(morsel_.repeat(Math.floor(LONG / morsel_.length)));
    expect(steps.length).toBeLessThanOrEqual(MAX_STEPS);
    expect(Array.isArray(misread)).toBe(true);
  });
});
