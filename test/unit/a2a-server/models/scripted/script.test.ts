import { describe, expect, it } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseScript, readScript } from '../../../../../a2a-server/models/scripted/script.ts';
import { ProductError } from '../../../../../shared/runtime/errors.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

const withSteps = (...steps: unknown[]) => ({ rules: [{ when: {}, do: steps }] });

function nested(depth: number): unknown {
  let value: unknown = [];
  for (let level = 1; level < depth; level += 1) value = [value];
  return value;
}

function problem(json: unknown): string {
  try {
    parseScript(json, 'rules.json');
  } catch (error) {
    if (error instanceof ProductError && error.reason === 'CONFIGURATION') return error.message;
    throw error;
  }
  throw new Error('the script was taken');
}

describe('parseScript, for the scripted agent', () => {
  it('parseScript parses the example in the documentation', async () => {
    const example: unknown = JSON.parse(await readFile('examples/scripted-agent.json', 'utf8'));
    expect(parseScript(example, 'example').rules.length).toBeGreaterThan(5);
  });

  it('by default, parseScript makes the agent reject a message without a matching rule', () => {
    expect(parseScript({}, 'rules.json')).toMatchObject({
      rules: [],
      otherwise: [[{ type: 'reject' }]],
    });
  });

  it('parseScript begins a new turn after each call and each question', () => {
    const { rules } = parseScript(
      withSteps(
        { text: 'a' },
        { call: { tool: 'list-files' } },
        { inputRequired: 'Which?' },
        { status: 'b' },
        { authRequired: 'Sign in.' },
      ),
      'rules.json',
    );
    const types = rules[0]?.do.map((turn) => turn.map(({ type }) => type));
    expect(types).toEqual([['text', 'call'], ['inputRequired'], ['status', 'authRequired'], []]);
  });

  it.each<[string, unknown, RegExp]>([
    [
      'a step with an unknown name',
      withSteps({ say: 'a' }),
      /rules\.0\.do\.0: a step has one key, .* text, artifact/,
    ],
    ['a step with two names', withSteps({ text: 'a', status: 'b' }), /rules\.0\.do\.0: a step has one key/],
    ['a step with the name of an object property', withSteps({ constructor: 'a' }), /a step has one key/],
    ['a wrong argument', withSteps({ delay: -1 }), /rules\.0\.do\.0\.delay: /],
    ['a sequence without steps', withSteps(), /rules\.0\.do: /],
    ['an unknown condition', { rules: [{ when: { id: 'x' }, do: [{ text: 'a' }] }] }, /rules\.0\.when: .*id/],
    [
      'a step after the end',
      withSteps({ reject: 'no' }, { text: 'a' }),
      /do\.1: no step can follow "reject"/,
    ],
    [
      'an artifact without content',
      withSteps({ artifact: { id: 'a' } }),
      /do\.0\.artifact: give one of "text"/,
    ],
    [
      'an artifact with two contents',
      withSteps({ artifact: { id: 'a', text: '', data: 1 } }),
      /do\.0\.artifact: give one of "text"/,
    ],
    [
      'a file with two contents',
      withSteps({ artifact: { id: 'a', file: { name: 'f', text: '', base64: '' } } }),
      /artifact\.file: a file has either/,
    ],
    [
      'bytes that are not base64',
      withSteps({ artifact: { id: 'a', file: { name: 'f', base64: '*' } } }),
      /artifact\.file\.base64: /,
    ],
    [
      'an append to a missing artifact',
      withSteps({ artifact: { id: 'a', text: 'x', append: true } }),
      /do\.0: there is no artifact "a" to append to/,
    ],
    [
      'an append to an artifact of an earlier turn',
      withSteps(
        { artifact: { id: 'a', text: 'x' } },
        { inputRequired: true },
        { artifact: { id: 'a', text: 'y', append: true } },
      ),
      /do\.2: there is no artifact "a" to append to/,
    ],
    [
      'a bare message with other steps',
      withSteps({ text: 'a' }, { message: 'b' }),
      /do\.1: a bare message is the whole response/,
    ],
    [
      'an artifact with the id of a turn',
      withSteps({ artifact: { id: 'turn-1', text: 'x' } }),
      /do\.0\.artifact\.id: an id like "turn-1" is reserved/,
    ],
    ['too deep nesting', withSteps({ artifact: { id: 'a', data: nested(20_000) } }), /nested too deep/],
    ['an unknown key', { rule: [] }, /rule/],
    ['a value that is not an object', [], /it is not an object/],
  ])('parseScript refuses %s, and the error names the position', (_name, json, expected) => {
    expect(problem(json)).toMatch(/^The script rules\.json is not valid: /);
    expect(problem(json)).toMatch(expected);
  });
});

describe('readScript, for the scripted agent', () => {
  it('readScript reads a file with a byte order mark', async () => {
    const path = join(await temporaryDirectory(), 'script.json');
    await writeFile(path, '\uFEFF{"otherwise": [{"text": "a"}]}');
    expect(await readScript(path)).toMatchObject({ otherwise: [[{ type: 'text' }]] });
  });

  it('the error of readScript for a missing file names the file', async () => {
    const path = join(await temporaryDirectory(), 'none.json');
    await expect(readScript(path)).rejects.toThrow(
      /The script .*none\.json cannot be read: it does not exist\./,
    );
  });
});
