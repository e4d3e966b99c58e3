import { beforeEach, describe, expect, it } from '@jest/globals';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Beginning } from '../../../../../a2a-server/agent-commands/agent-command.ts';
import { init } from '../../../../../a2a-server/agent-commands/init/init.ts';
import { openWorkspace } from '../../../../../a2a-server/tools/workspace.ts';
import { temporaryDirectory } from '../../../../support/temporary-directory.ts';

let root: string;

beforeEach(async () => {
  root = await temporaryDirectory();
});

async function files(contents: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, content] of Object.entries(contents)) {
    await mkdir(join(root, path, '..'), { recursive: true });
    await writeFile(join(root, path), content);
  }
}

async function begun(...args: string[]): Promise<Beginning> {
  const { signal } = new AbortController();
  return init.begin(args, { workspace: await openWorkspace(root), principal: 'ada', signal });
}

async function proposed(): Promise<string> {
  const beginning = await begun();
  if (beginning.type !== 'call') throw new Error('nothing was proposed');
  expect(beginning).toMatchObject({ tool: 'write-file', input: { path: 'AGENTS.md' } });
  return String(beginning.input['content']);
}

describe('init', () => {
  it('proposes a file that says what lies in the directory: name, languages, commands, layout, style', async () => {
    await files({
      'package.json': JSON.stringify({
        name: 'orders',
        description: 'Takes orders.',
        scripts: { build: 'tsc', test: 'jest', pretest: 'x', prepare: 'x' },
      }),
      'package-lock.json': '{}',
      '.prettierrc': '{}',
      Makefile: 'VERSION := 1\nimage: build\n\tdocker build .\n',
      '.gitignore': 'dist\n',
      'src/a.ts': '',
      'src/deep/b.ts': '',
      'test/a.test.ts': '',
      'tools/c.py': '',
      'dist/out.js': '',
    });
    expect(await proposed()).toBe(`# AGENTS.md

What an agent needs to know to work here. Made from what lies in the directory: correct what is wrong, add what cannot be seen.

## Project

orders: Takes orders.

Languages: TypeScript (3 files), Python (1 file).

## Commands

- install: \`npm ci\`
- build: \`npm run build\`
- test: \`npm test\`
- image: \`make image\`

## Layout

- \`src/\` (2 files)
- \`test/\` (1 file)
- \`tools/\` (1 file)

## Style

Set by \`.prettierrc\`.
`);
  });

  it.each([
    [
      'Python with uv',
      {
        'pyproject.toml': '[project]\nname = "lens"\n[tool.ruff]\n[tool.pytest.ini_options]\n',
        'uv.lock': '',
      },
      ['lens.', '- install: `uv sync`', '- test: `uv run pytest`', '- lint: `uv run ruff check .`'],
    ],
    ['Rust', { 'Cargo.toml': '[package]\nname = "ore"\n' }, ['ore.', '- test: `cargo test`']],
    [
      'Go',
      { 'go.mod': 'module example.com/ore\n\ngo 1.24\n' },
      ['example.com/ore.', '- test: `go test ./...`'],
    ],
    ['just', { justfile: 'default: test\ntest filter="":\n  run\n' }, ['- test: `just test`']],
    ['a README alone', { 'README.md': '# Kiln\n\nFires pots.\nSlowly.\n' }, ['Kiln: Fires pots. Slowly.']],
  ])('knows %s', async (_what, contents, lines) => {
    await files(contents);
    const text = await proposed();
    for (const line of lines) expect(text).toContain(line);
  });

  it('makes something of an empty directory, of files that are no JSON or TOML, and of what is no text', async () => {
    await files({ 'package.json': '{', 'pyproject.toml': '= [', 'README.md': '\0' });
    expect(await proposed()).toContain('## Project');
  });

  it('leaves a file that is there alone, and shows what it would write; "replace" proposes it', async () => {
    await files({ 'AGENTS.md': 'mine' });
    expect(await begun()).toMatchObject({ type: 'answer', text: expect.stringContaining('left as it is') });
    expect(await begun('replace')).toMatchObject({ type: 'call', input: { path: 'AGENTS.md' } });
    await expect(begun('now')).rejects.toMatchObject({ reason: 'MALFORMED' });
  });
});
