import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import {
  MESSAGE_FORMS,
  parseOfflineMessage,
} from '../../../a2a-server/models/offline/parse-offline-message.ts';
import { plannedCallsOfStep } from '../../../a2a-server/models/offline/offline-plan.ts';
import { builtinTools } from '../../../a2a-server/tools/builtin/builtin-tools.ts';
import { createToolbox, parseInput } from '../../../a2a-server/tools/toolbox.ts';

const toolbox = createToolbox(builtinTools());
const DOCUMENT = new URL('../../../docs/offline-model.md', import.meta.url);

/** Parses an example and checks its calls against the real tools' schemas. */
function checkedCalls(example: string): string[] {
  const reading = parseOfflineMessage(example);
  if (reading.type === 'refused') throw new Error(`${example}: ${reading.why}`);
  return reading.steps.flatMap(plannedCallsOfStep).map(({ tool: name, input }) => {
    const tool = toolbox.get(name);
    if (tool === undefined) throw new Error(`no tool is called ${name}`);
    expect({ example, parsed: parseInput(tool, input) }).toMatchObject({ example, parsed: { ok: true } });
    return name;
  });
}

test('every form and every plan in the documentation requests existing tools with valid inputs', async () => {
  const text = await readFile(DOCUMENT, 'utf8');
  const rows = [...text.matchAll(/^\| (?:`` (.+?) ``|`(.+?)`) +\| (?:`` (.+?) ``|`(.+?)`) +\|/gm)];
  const documented = rows.map((row) => ({ form: row[1] ?? row[2] ?? '', example: row[3] ?? row[4] ?? '' }));
  expect(documented.map(({ form }) => form)).toEqual(MESSAGE_FORMS.map(({ form }) => form));
  const blocks = [...text.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map((m) => m[1] ?? '');
  expect(blocks).toHaveLength(1);
  const tools = [...documented.map(({ example }) => example), ...blocks].flatMap(checkedCalls);
  expect(tools.length).toBeGreaterThan(MESSAGE_FORMS.length);
});
