import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { readMessage } from '../../../a2a-server/models/offline/read-message.ts';
import { callsOf } from '../../../a2a-server/models/offline/step.ts';
import { TOOL } from '../../../a2a-server/models/offline/tool-names.ts';
import { LANGUAGE } from '../../../a2a-server/models/offline/wording.ts';
import { builtinTools } from '../../../a2a-server/tools/builtin-tools.ts';
import { createToolbox, parseInput } from '../../../a2a-server/tools/toolbox.ts';

const toolbox = createToolbox(builtinTools());
const DOCUMENT = new URL('../../../docs/offline-model.md', import.meta.url);

/** Reads an example, which must be understood whole, and checks its calls against the real tools' schemas. */
function toolsAskedFor(example: string): string[] {
  const { steps, misread } = readMessage(example);
  expect({ example, misread }).toEqual({ example, misread: [] });
  expect(steps).not.toEqual([]);
  return steps.flatMap(callsOf).map(({ tool: name, input }) => {
    const tool = toolbox.get(name);
    if (tool === undefined) throw new Error(`no tool is called ${name}`);
    expect({ example, parsed: parseInput(tool, input) }).toMatchObject({ example, parsed: { ok: true } });
    return name;
  });
}

test('the language speaks of tools that exist', () => {
  // Not of all of them: reading on in a long result, or keeping a list, is nothing a person asks for in words.
  expect(toolbox.names()).toEqual(expect.arrayContaining(Object.values(TOOL)));
});

test('the help it gives is in its own language, and asks for each tool with a valid input', () => {
  const lines = LANGUAGE.split('\n').filter((line) => line.startsWith('- '));
  const plan = LANGUAGE.slice(LANGUAGE.indexOf('{"plan"'), LANGUAGE.lastIndexOf('}') + 1);
  const asked = [...lines, plan].flatMap(toolsAskedFor);
  expect(new Set(asked)).toEqual(new Set(Object.values(TOOL)));
});

test('every example of the documentation is understood, and asks for tools with valid inputs', async () => {
  const text = await readFile(DOCUMENT, 'utf8');
  const rows = text.split('\n').filter((line) => /^\| [a-z].*`/.test(line));
  const examples = rows.flatMap((row) =>
    [...row.matchAll(/`` (.+?) ``|``(.+?) ``|`([^`]+)`/g)].map((m) => m[1] ?? m[2] ?? m[3] ?? ''),
  );
  const blocks = [...text.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map((m) => m[1] ?? '');
  const fenced = [...text.matchAll(/^````text\n([\s\S]*?)^````$/gm)].map((m) => m[1] ?? '');
  expect([blocks.length, fenced.length]).toEqual([1, 1]);
  const asked = [...examples, ...blocks, ...fenced].flatMap(toolsAskedFor);
  expect(new Set(asked)).toEqual(new Set(Object.values(TOOL)));
});
