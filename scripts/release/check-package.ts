/**
 * Installs the package as a stranger does: with an empty directory, an empty home and an empty npm cache. Then uses
 * each part of the package.
 *
 * `npm run check:package [-- <file.tgz>]`: without a file, the build of this checkout is packed. Needs the npm
 * registry. Exit code 0 means that every check passed.
 */
import { mkdir, mkdtemp, readFile, rm, stat, writeFile, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve, sep } from 'node:path';
import { z } from 'zod';
import { pack } from './pack.ts';
import { megabytes, problemsOfContents, type PackedFile } from './package-contents.ts';
import { outputOf } from './run-command.ts';

/**
 * The maximum size of an installation in bytes. The native library of SQLite takes 10 MB, and the types of zod take 8
 * MB.
 */
const LARGEST_INSTALLATION = 50_000_000;

/** Uses the types of the client. An import without types would make each `@ts-expect-error` an error. */
const TYPED_PROGRAM = `
import { A2aClient, ClientError, hasEnded, McpClient, type TaskReport } from 'mcp-a2a-bridge/client';

export async function delegate(text: string): Promise<TaskReport> {
  const client = new A2aClient({ url: 'http://127.0.0.1:41242', token: 'token' });
  const execution = client.start({ text }, {
    onProgress: (progress) => {
      if (progress.type === 'text') progress.text.trim();
      // @ts-expect-error: there is no such progress
      if (progress.type === 'nothing') return;
    },
  });
  return execution.result;
}
export function wrong(): void {
  // @ts-expect-error: a client needs an address
  new A2aClient({});
  // @ts-expect-error: the report has no such state
  hasEnded({ state: 'nothing' });
}
export { ClientError, McpClient };
`;

const [given] = process.argv.slice(2);
const place = await mkdtemp(join(tmpdir(), 'package-'));
const home = join(place, 'home');

/** HOME has no settings. The registry's address and its certificates stay those of this machine. */
const environment = {
  ...process.env,
  HOME: home,
  USERPROFILE: home,
  XDG_STATE_HOME: undefined,
  npm_config_userconfig: (await outputOf('npm', ['config', 'get', 'userconfig'])).trim(),
  npm_config_cache: join(place, 'cache'),
};

try {
  const tarball = given === undefined ? await pack(place) : resolve(given);
  const { version } = await checkContents(tarball);
  const installed = await checkInstallation(tarball);
  await checkPrograms(installed, version);
  await checkNpx(tarball, version);
  await checkClient(installed);
  await run(process.execPath, [
    'scripts/run.mjs',
    'scripts/demo.ts',
    join(installed, 'node_modules', 'mcp-a2a-bridge'),
  ]);
  passed('the demo runs with the installed programs');
} finally {
  await rm(place, { recursive: true, force: true, maxRetries: 5 });
}

async function checkContents(tarball: string): Promise<{ version: string }> {
  const contents = join(place, 'contents');
  await mkdir(contents);
  await run('tar', ['-xzf', tarball, '-C', contents]);
  const root = join(contents, 'package');
  const files = await filesBelow(root);
  const problems = problemsOfContents(files);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  passed(
    `the package has ${files.length} files, ${megabytes(bytes)}, and ${megabytes((await stat(tarball)).size)} packed`,
  );
  return z
    .object({ version: z.string() })
    .parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')));
}

async function checkInstallation(tarball: string): Promise<string> {
  const project = await newProject('installed');
  await run('npm', ['install', '--no-audit', '--no-fund', tarball], project);
  const files = await filesBelow(join(project, 'node_modules'));
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes > LARGEST_INSTALLATION) throw new Error(`The installation takes ${megabytes(bytes)}.`);
  const packages = await readdir(join(project, 'node_modules'));
  passed(
    `an installation takes ${megabytes(bytes)}: ${packages.filter((name) => !name.startsWith('.')).join(', ')}`,
  );
  return project;
}

async function checkPrograms(project: string, version: string): Promise<void> {
  for (const name of ['mcp-a2a-bridge', 'a2a-server']) {
    const program = join(project, 'node_modules', '.bin', name);
    const said = (await run(program, ['--version'], project)).trim();
    if (said !== version) throw new Error(`${name} --version says ${said}, and the package is ${version}.`);
    const help = await run(program, ['--help'], project);
    if (!help.startsWith(`Usage: ${name} `)) throw new Error(`${name} --help says:\n${help}`);
  }
  passed(`both programs are version ${version}, and print their help`);
}

async function checkNpx(tarball: string, version: string): Promise<void> {
  const elsewhere = await newProject('elsewhere');
  const said = await run('npx', ['--yes', '--package', tarball, '--', 'a2a-server', '--version'], elsewhere);
  if (said.trim() !== version) throw new Error(`npx says: ${said}`);
  passed('npx runs a program of the package');
}

async function checkClient(project: string): Promise<void> {
  const program = join(project, 'program.ts');
  await writeFile(program, TYPED_PROGRAM);
  const options = [
    '--module',
    'nodenext',
    '--target',
    'es2022',
    '--lib',
    'es2023,dom',
    '--types',
    '',
    '--strict',
  ];
  await run(process.execPath, [resolve('node_modules/typescript/bin/tsc'), ...options, program], project);
  const imported = await run(
    process.execPath,
    ['--input-type=module', '--eval', "console.log(Object.keys(await import('./program.js')).join())"],
    project,
  );
  if (imported.trim() !== 'ClientError,McpClient,delegate,wrong')
    throw new Error(`The program exports ${imported}`);
  passed('a program in TypeScript compiles against the types of the client, and runs');
}

async function newProject(name: string): Promise<string> {
  const directory = join(place, name);
  await mkdir(directory);
  await mkdir(home, { recursive: true });
  await writeFile(join(directory, 'package.json'), '{"private":true,"type":"module"}');
  return directory;
}

async function filesBelow(root: string): Promise<PackedFile[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => {
        const path = join(entry.parentPath, entry.name);
        return { path: relative(root, path).replaceAll(sep, '/'), bytes: (await stat(path)).size };
      }),
  );
}

/** Runs a command in the stranger's environment. @throws Error with everything that it printed, if it fails */
function run(command: string, args: readonly string[], cwd = process.cwd()): Promise<string> {
  return outputOf(command, args, { cwd, env: environment });
}

function passed(what: string): void {
  console.log(`✓ ${what}`);
}
