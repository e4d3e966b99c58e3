import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { builtinTools } from '../../../../a2a-server/tools/builtin/builtin-tools.ts';
import { multiEditTool } from '../../../../a2a-server/tools/builtin/edit-file.ts';
import { defineTool } from '../../../../a2a-server/tools/builtin/define-tool.ts';
import { createToolbox, parseInput } from '../../../../a2a-server/tools/toolbox.ts';
import { toolInWorkspace } from './tool-in-workspace.ts';

const repeat = defineTool({
  name: 'repeat',
  description: 'Repeats.',
  sideEffect: 'other',
  schema: z.strictObject({ text: z.string().describe('What.'), times: z.int().min(1).default(2) }),
  timeoutMs: ({ times }) => times * 1000,
  title: ({ text }) => `Repeat ${text}`,
  show: async (input) => ({ preview: { type: 'json', value: input }, basis: null }),
  withContent: (input, content) => ({ ...input, text: content }),
  run: async ({ text, times }) => ({ text: text.repeat(times), summary: 'repeated' }),
});

const named = (name: string) => ({ ...repeat, name });

describe('a tool that defineTool creates', () => {
  it('a defined tool accepts unknown input, parses it with its schema, and adds default values', async () => {
    const { run, show } = await toolInWorkspace();
    expect(repeat.title({ text: 'a' })).toBe('Repeat a');
    expect(repeat.timeoutMs({ text: 'a' })).toBe(2000);
    expect(repeat.withContent?.({ text: 'a' }, 'b')).toEqual({ text: 'b', times: 2 });
    expect(await show(repeat, { text: 'a' })).toMatchObject({ preview: { value: { text: 'a', times: 2 } } });
    expect(await run(repeat, { text: 'ab', times: 3 })).toMatchObject({ text: 'ababab' });
    expect(repeat.source).toEqual({ type: 'built-in' });
  });

  it('every method of a defined tool throws for an input that does not fit', async () => {
    const { run, show } = await toolInWorkspace();
    const malformed = expect.objectContaining({ reason: 'MALFORMED' });
    for (const input of [{}, { text: 1 }, { text: 'a', more: true }, 'text', null, undefined]) {
      expect(() => repeat.title(input)).toThrow(malformed);
      expect(() => repeat.timeoutMs(input)).toThrow(malformed);
      await expect(show(repeat, input)).rejects.toEqual(malformed);
      await expect(run(repeat, input)).rejects.toEqual(malformed);
    }
  });
});

describe('createToolbox, which collects the tools', () => {
  it('the toolbox has the tools by name, in order, and declares them for a model', () => {
    const toolbox = createToolbox([repeat]);
    expect(toolbox.get('repeat')).toBe(repeat);
    expect(toolbox.get('toString')).toBeUndefined();
    expect(toolbox.names()).toEqual(['repeat']);
    expect(toolbox.declarations()).toEqual([
      {
        name: 'repeat',
        description: 'Repeats.',
        inputSchema: {
          type: 'object',
          properties: {
            text: { type: 'string', description: 'What.' },
            times: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, default: 2 },
          },
          required: ['text'],
          additionalProperties: false,
        },
      },
    ]);
  });

  it('the toolbox declares its tools in the order of their names, so that the beginning of a prompt stays the same', () => {
    const toolbox = createToolbox([named('write-file'), named('ask'), named('read-file')]);
    expect(toolbox.declarations().map(({ name }) => name)).toEqual(['ask', 'read-file', 'write-file']);
  });

  it('the schema that a model gets has properties, because OpenAI refuses an object schema without them', () => {
    const [declared] = createToolbox([{ ...repeat, inputSchema: { type: 'object' } }]).declarations();
    expect(declared).toEqual({
      name: 'repeat',
      description: 'Repeats.',
      inputSchema: { type: 'object', properties: {} },
    });
  });

  it('the schema that a model gets has no alternatives at its top level, because Anthropic and OpenAI refuse them', () => {
    const url = { type: 'string', format: 'uri' };
    const anyOf = [
      { properties: { content: { type: 'string' }, name: { type: 'number' } }, required: ['content'] },
      { properties: { url }, required: ['url'] },
      { $ref: '#/$defs/other' },
    ];
    const inputSchema = { type: 'object', properties: { name: { anyOf: [{ type: 'string' }] } }, anyOf };
    const [declared] = createToolbox([{ ...repeat, inputSchema }]).declarations();
    expect(declared).toEqual({
      name: 'repeat',
      description: `Repeats.\n\nThe input must also fit this JSON Schema: ${JSON.stringify({ anyOf })}`,
      inputSchema: {
        type: 'object',
        properties: { content: { type: 'string' }, name: { anyOf: [{ type: 'string' }] }, url },
      },
    });
  });

  it('the schema that a model gets has each form of a field that differs between the alternatives', () => {
    const id = { type: 'number' };
    const oneOf = ['create', 'delete'].map((action) => ({
      properties: { action: { const: action }, id, note: id },
    }));
    const inputSchema = { type: 'object', properties: { note: { type: 'string' } }, oneOf };
    const [declared] = createToolbox([{ ...repeat, inputSchema }]).declarations();
    expect(declared?.inputSchema).toEqual({
      type: 'object',
      properties: {
        action: { anyOf: [{ const: 'create' }, { const: 'delete' }] },
        id,
        note: { type: 'string' },
      },
    });
  });

  it('the schema that a model gets has no property with a name that Anthropic refuses; the description has it', () => {
    const [top, select] = [{ type: 'number' }, { type: 'string' }];
    const inputSchema = {
      type: 'object',
      properties: { $top: top, select },
      required: ['$top', 'select'],
      additionalProperties: false,
    };
    const [declared] = createToolbox([{ ...repeat, inputSchema }]).declarations();
    const moved = { properties: { $top: top }, required: ['$top', 'select'] };
    expect(declared).toEqual({
      name: 'repeat',
      description: `Repeats.\n\nThe input must also fit this JSON Schema: ${JSON.stringify(moved)}`,
      inputSchema: {
        ...inputSchema,
        properties: { select },
        required: ['select'],
        // Some providers accept only outputs that fit the schema. The model must be able to write `$top`.
        additionalProperties: true,
      },
    });
  });

  it('X3 the description contains no refused keywords of thousands of characters', () => {
    const inputSchema = { type: 'object', enum: ['x'.repeat(10_000)] };
    const [declared] = createToolbox([{ ...repeat, inputSchema }]).declarations();
    expect(declared?.description).toBe('Repeats.');
  });

  it('the schema that a model gets has items for each array, because OpenAI and Google refuse an array without them', () => {
    const properties = {
      point: { type: 'array', prefixItems: [{ type: 'number' }, { type: 'string' }], items: false },
      pair: { type: 'array', items: [{ type: 'array' }, { type: 'string' }], default: [{ type: 'array' }] },
      names: { type: 'array', items: { type: 'string' } },
      some: { type: ['array', 'null'] },
      anything: { type: 'array', items: {} },
      nothing: { type: 'array', prefixItems: [] },
      rest: { type: 'array', prefixItems: [{ type: 'number' }], items: { type: 'string' } },
      one: { type: ['array', 'string'], items: { type: 'number' }, description: 'One or more.' },
      examples: { type: 'array' },
    };
    const inputSchema = { type: 'object', properties };
    const any = { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }, { type: 'object' }] };
    expect(createToolbox([{ ...repeat, inputSchema }]).declarations()[0]?.inputSchema).toEqual({
      type: 'object',
      properties: {
        point: { type: 'array', items: { anyOf: [{ type: 'number' }, { type: 'string' }] } },
        pair: {
          type: 'array',
          items: { anyOf: [{ type: 'array', items: any }, { type: 'string' }] },
          default: [{ type: 'array' }],
        },
        names: { type: 'array', items: { type: 'string' } },
        some: { type: ['array', 'null'], items: any },
        anything: { type: 'array', items: any },
        nothing: { type: 'array', items: any },
        rest: { type: 'array', items: { anyOf: [{ type: 'number' }, { type: 'string' }] } },
        one: {
          anyOf: [{ type: 'array', items: { type: 'number' } }, { type: 'string' }],
          description: 'One or more.',
        },
        examples: { type: 'array', items: any },
      },
    });
  });

  it('the toolbox refuses two tools with the same name', () => {
    expect(() => createToolbox([repeat, repeat])).toThrow(/same name/);
  });

  it('the toolbox declares every built-in tool with described fields, and only read-only tools with readOnly', () => {
    const toolbox = createToolbox(builtinTools());
    for (const { inputSchema } of toolbox.declarations()) {
      const { properties } = z
        .object({ properties: z.record(z.string(), z.object({ description: z.string() })) })
        .parse(inputSchema);
      expect(Object.keys(properties).length).toBeGreaterThan(0);
    }
    expect(toolbox.declarations({ readOnly: true }).map(({ name }) => name)).toEqual([
      'ask-person',
      'list-files',
      'read-file',
      'read-output',
      'search-files',
      'update-todos',
      'wait',
    ]);
    expect(toolbox.names().map((name) => [name, toolbox.get(name)?.sideEffect])).toEqual([
      ['list-files', 'none'],
      ['read-file', 'none'],
      ['search-files', 'none'],
      ['write-file', 'files'],
      ['append-file', 'files'],
      ['edit-file', 'files'],
      ['multi-edit', 'files'],
      ['move-file', 'files'],
      ['delete-file', 'files'],
      ['run-shell-command', 'command'],
      ['read-output', 'none'],
      ['fetch', 'network'],
      ['crawl', 'network'],
      ['update-todos', 'none'],
      ['wait', 'none'],
      ['ask-person', 'none'],
    ]);
  });
});

describe('parseInput, which checks the input of a call', () => {
  it('parseInput returns the input with its default values', () => {
    expect(parseInput(repeat, { text: 'a' })).toEqual({ ok: true, input: { text: 'a', times: 2 } });
  });

  it('D4 the error of parseInput names the fields that do not fit', () => {
    expect(parseInput(repeat, { times: 0, more: 1 })).toEqual({
      ok: false,
      message: expect.stringMatching(/^The input of repeat does not fit: .*text: .*times: .*more/),
    });
  });

  it('parseInput treats null in an optional field as a missing field, if the schema refuses null', () => {
    expect(parseInput(repeat, { text: 'a', times: null })).toEqual({
      ok: true,
      input: { text: 'a', times: 2 },
    });
    expect(parseInput(repeat, { text: null, times: null })).toEqual({
      ok: false,
      message: 'The input of repeat does not fit: text: it is missing, and must be text.',
    });
    const edits = [{ oldText: 'a', newText: 'b', replaceAll: null }];
    expect(parseInput(multiEditTool, { path: 'a.md', edits, content: null })).toEqual({
      ok: true,
      input: { path: 'a.md', edits: [{ oldText: 'a', newText: 'b', replaceAll: false }] },
    });
    const nullable = {
      ...repeat,
      schema: z.object({ text: z.string().nullable(), times: z.int().optional() }),
    };
    expect(parseInput(nullable, { text: null, times: null })).toEqual({ ok: true, input: { text: null } });
  });

  it('the error of parseInput for text that is not JSON says what is wrong with it', () => {
    expect(parseInput(repeat, '{"text": "a\nb"}')).toEqual({
      ok: false,
      message: expect.stringMatching(
        /^The input of repeat must be a JSON object, but it has a syntax error: .*control character.*\.$/,
      ),
    });
  });

  it('parseInput refuses an input that is not an object', () => {
    for (const input of ['"text"', null, undefined, 3, ['a']]) {
      expect(parseInput(repeat, input)).toEqual({
        ok: false,
        message: 'The input of repeat must be a JSON object.',
      });
    }
  });

  it('X3 the error of parseInput lists a limited number of problems', () => {
    const many = defineTool({ ...definitionOf(100), name: 'many' });
    const parsed = parseInput(many, {});
    expect(parsed).toMatchObject({ ok: false, message: expect.stringMatching(/and 92 more\.$/) });
  });
});

/** Defines a tool with `n` required fields. */
function definitionOf(n: number) {
  const fields = Object.fromEntries(Array.from({ length: n }, (_, i) => [`field${i}`, z.string()]));
  return {
    name: '',
    description: '',
    sideEffect: 'none' as const,
    schema: z.object(fields),
    timeoutMs: () => 1,
    title: () => '',
    show: async () => ({ preview: { type: 'json' as const, value: null }, basis: null }),
    run: async () => ({ text: '', summary: '' }),
  };
}
