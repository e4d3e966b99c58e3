/** Tests the library as a user installs it: from the packed package, in a separate project. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { build } from 'esbuild';
import { z } from 'zod';

const run = promisify(execFile);
const root = process.cwd();
const modules = join(root, 'node_modules');

const PROGRAM = `
import { A2aClient, ClientError, McpClient, Operations } from 'mcp-a2a-bridge/client';
import type { Execution, Operation, Progress, TaskReport } from 'mcp-a2a-bridge/client';

const client = new A2aClient({ url: 'http://127.0.0.1:1', retryPolicy: { attempts: 1 } });
const execution: Execution = client.start({ text: 'x' }, { onProgress: (_: Progress) => undefined });
const outcome: TaskReport | ClientError = await execution.result.catch((error: unknown) => {
  if (error instanceof ClientError) return error;
  throw error;
});
// @ts-expect-error The result is typed, not any.
outcome.nothing;
const tools = await new McpClient({ url: 'http://127.0.0.1:1/mcp', retryPolicy: { attempts: 1 } }).tools().catch(() => []);
// @ts-expect-error The parsed tools are typed too.
tools[0]?.nothing;
const all: readonly Operation[] = new Operations(client).all;
declare const console: { log(...words: unknown[]): void };
console.log(outcome instanceof ClientError ? outcome.code : outcome.state, tools.length, all.length);
`;

const packed = z.tuple([z.object({ filename: z.string(), files: z.array(z.object({ path: z.string() })) })]);

describe('the packed package', () => {
  let project: string;
  let files: string[];
  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), 'client-consumer-'));
    const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', project];
    const [archive] = packed.parse(JSON.parse((await run('npm', pack, { cwd: root })).stdout));
    files = archive.files.map(({ path }) => path);
    const place = join(project, 'node_modules', 'mcp-a2a-bridge');
    await mkdir(place, { recursive: true });
    await run('tar', ['-xzf', join(project, archive.filename), '-C', place, '--strip-components=1']);
    // The package's types import only this dependency.
    await symlink(join(modules, 'zod'), join(project, 'node_modules', 'zod'));
    await writeFile(join(project, 'package.json'), JSON.stringify({ type: 'module' }));
    await writeFile(join(project, 'use.ts'), PROGRAM);
  });
  afterAll(() => rm(project, { recursive: true, force: true }));

  test('the package contains both programs, the library, its types and the examples, and no source maps', () => {
    expect(files).toEqual(
      expect.arrayContaining([
        'dist/bridge/main.js',
        'dist/a2a-server/main.js',
        'dist/client/index.js',
        'dist/client/types/client/index.d.ts',
        'examples/client-node.mjs',
        'README.md',
      ]),
    );
    expect(files.filter((path) => /^(test|node_modules)\/|\.map$|client-packages/.test(path))).toEqual([]);
  });

  test.each([
    ['nodenext', 'nodenext'],
    ['bundler', 'esnext'],
  ])(
    'a project can import the package with its types, resolved as %s, without the types of Node, and run it',
    async (resolution, module) => {
      const flags = ['--strict', '--target', 'es2022', '--moduleResolution', resolution, '--module', module];
      const tsc = [join(modules, 'typescript', 'bin', 'tsc'), ...flags, '--lib', 'es2022,dom', '--types', ''];
      await run(process.execPath, [...tsc, 'use.ts'], { cwd: project });
      const { stdout } = await run(process.execPath, ['use.js'], { cwd: project });
      expect(stdout).toBe('unreachable 0 0\n');
    },
  );

  test('other bundlers can bundle the package for a browser; the bundle is small and contains no Node code', async () => {
    const { outputFiles, metafile } = await build({
      stdin: { contents: "export * from 'mcp-a2a-bridge/client';", resolveDir: project },
      bundle: true,
      minify: true,
      write: false,
      metafile: true,
      format: 'esm',
      platform: 'browser',
    });
    const [output] = outputFiles;
    expect(
      Object.values(metafile.inputs).flatMap(({ imports }) => imports.filter((it) => it.external)),
    ).toEqual([]);
    expect(output?.text).not.toMatch(/\bnode:|\brequire\(|\bprocess\.|\bBuffer\b/);
    expect(output?.contents.length).toBeLessThan(70 * 1024);
    expect(
      await readFile(join(project, 'node_modules/mcp-a2a-bridge/dist/client/index.js'), 'utf8'),
    ).not.toMatch(/^import /m);
  });
});
