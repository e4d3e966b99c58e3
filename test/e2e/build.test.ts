/** Tests builds while built programs run. */
import { describe, expect, it } from '@jest/globals';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { recordCodeCache } from '../../scripts/record-code-cache.mjs';
import { replaceBuild } from '../../scripts/replace-build.mjs';
import { A2aPeer } from '../support/a2a-peer.ts';
import { homeDirectoryOf, launchServer, newServerHome } from '../support/server-program.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const run = promisify(execFile);
/** The time for two builds on a busy machine, in milliseconds. */
const BUILDS_MS = 240_000;

/** Creates a program that loads one of its files only after its start. */
async function draftOf(place: string, version: string): Promise<string> {
  const draft = await mkdtemp(`${join(place, 'dist')}.draft-`);
  const main = `process.stdin.once('data', async () => console.log((await import('../late-${version}.js')).says));
    console.log('ready');`;
  const files = {
    'package.json': '{"type": "module"}',
    'program/main.js': main,
    [`late-${version}.js`]: `export const says = '${version}';`,
    [`late-${version}.js.map`]: '{}',
  };
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(draft, file)), { recursive: true });
    await writeFile(join(draft, file), text);
  }
  return draft;
}

/**
 * Starts the program.
 * @returns a function that makes the program load its late file
 */
async function started(target: string): Promise<() => Promise<string>> {
  const child = spawn(process.execPath, [join(target, 'program', 'main.js')], { stdio: 'pipe' });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => String((await lines.next()).value);
  expect(await next()).toBe('ready');
  return async () => {
    child.stdin.end('go\n');
    const said = await next();
    if (child.exitCode === null) await once(child, 'exit');
    return said;
  };
}

/** The copy is below node_modules, so that the programs find their packages. */
async function copyOfDist(): Promise<{ place: string; target: string }> {
  const cache = join(process.cwd(), 'node_modules', '.cache', 'mcp-a2a-bridge');
  await mkdir(cache, { recursive: true });
  const place = await mkdtemp(join(cache, 'build-'));
  const target = join(place, 'dist');
  await cp('dist', target, { recursive: true });
  return { place, target };
}

/** Runs inside a program, before its own code. It prints for each file of the build: 'used', 'refused' or 'none'. */
const REPORT_BYTECODE = `
  const vm = require('node:vm');
  const kinds = [];
  vm.Script = class extends vm.Script {
    constructor(source, options) {
      super(source, options);
      if (require('node:path').isAbsolute(options.filename))
        kinds.push(options.cachedData === undefined ? 'none' : this.cachedDataRejected ? 'refused' : 'used');
    }
  };
  process.on('exit', () => require('node:fs').writeSync(2, kinds.join(' ')));`;

describe('a build of the programs', () => {
  it('a program runs the stored bytecode of each file, and compiles a file whose bytecode is damaged, missing or of another V8', async () => {
    const { place, target } = await copyOfDist();
    try {
      await recordCodeCache(target);
      const preload = join(place, 'report.cjs');
      await writeFile(preload, REPORT_BYTECODE);
      const start = async (program: string, flags: readonly string[] = []) => {
        const args = [...flags, '--require', preload, join(target, program, 'main.js'), '--version'];
        const { stdout, stderr } = await run(process.execPath, args, { env: {} });
        return { version: stdout, kinds: new Set(stderr.split(' ')) };
      };
      const programs = ['bridge', 'a2a-server'];
      const recorded = await Promise.all(programs.map((program) => start(program)));
      expect(recorded.map(({ kinds }) => [...kinds])).toEqual([['used'], ['used']]);
      // V8 refuses the bytecode of other flags in the same way as that of another version.
      const others = await Promise.all(programs.map((program) => start(program, ['--no-opt'])));
      expect(others).toEqual(recorded.map(({ version }) => ({ version, kinds: new Set(['refused']) })));
      const all = (await readdir(target, { recursive: true })).filter((name) => name.endsWith('.cache'));
      for (const [index, name] of all.entries()) {
        const path = join(target, name);
        const bytes = await readFile(path);
        const middle = bytes.length >> 1;
        bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
        await (index % 2 === 0 ? writeFile(path, bytes) : rm(path));
      }
      const damaged = await Promise.all(programs.map((program) => start(program)));
      expect(damaged).toEqual(recorded.map(({ version }) => ({ version, kinds: new Set(['none']) })));
    } finally {
      await rm(place, { recursive: true, force: true });
    }
  });

  it('an old Node, which has no crc32, ends with a message that names the Node that the program or the build needs', async () => {
    const place = await temporaryDirectory();
    const preload = join(place, 'old-node.cjs');
    await writeFile(preload, "require('node:zlib').crc32 = undefined;");
    for (const file of ['dist/bridge/main.js', 'dist/a2a-server/main.js', 'scripts/build.mjs'])
      await expect(run(process.execPath, ['--require', preload, file])).rejects.toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(
          /^(This program|The build) needs Node 20\.19 or a later Node 20, or Node 22\.2 or newer\. This is Node .*\n$/,
        ),
      });
  });

  it('a build keeps the files of earlier builds, so that running programs can load them, and no package contains them', async () => {
    const place = await temporaryDirectory();
    const target = join(place, 'dist');
    await replaceBuild(await draftOf(place, 'one'), target);
    const first = await started(target);
    await replaceBuild(await draftOf(place, 'two'), target);
    const second = await started(target);
    await replaceBuild(await draftOf(place, 'three'), target);
    expect([await first(), await second(), await (await started(target))()]).toEqual(['one', 'two', 'three']);
    expect((await readdir(place)).toSorted()).toEqual(['dist']);
    expect((await readdir(target)).filter((name) => name.endsWith('.map'))).toEqual(['late-three.js.map']);
    const ignored = await readFile(join(target, '.npmignore'), 'utf8');
    expect(ignored.trim().split('\n').toSorted()).toEqual(['/build.json', '/late-one.js', '/late-two.js']);
  });

  it('a build deletes replaced files after a time, and the oldest files if there are too many', async () => {
    const place = await temporaryDirectory();
    const target = join(place, 'dist');
    const late = async (): Promise<string[]> =>
      (await readdir(target)).filter((name) => /^late-.*js$/.test(name)).toSorted();
    await replaceBuild(await draftOf(place, 'one'), target);
    await replaceBuild(await draftOf(place, 'two'), target);
    const long = new Date(Date.now() - 40 * 24 * 60 * 60 * 1000);
    await utimes(join(target, 'late-one.js'), long, long);
    // The build counts the time from the file's replacement, which is now. So the file stays.
    await utimes(join(target, 'late-two.js'), long, long);
    await replaceBuild(await draftOf(place, 'three'), target);
    expect(await late()).toEqual(['late-three.js', 'late-two.js']);
    const { size } = await stat(join(target, 'late-three.js'));
    await replaceBuild(await draftOf(place, 'four'), target, { keptBytes: size });
    expect(await late()).toEqual(['late-four.js', 'late-three.js']);
  });

  it(
    'two builds can run at once while a server runs: that server keeps running, and the next server starts',
    async () => {
      const { place, target } = await copyOfDist();
      const build = () => run(process.execPath, ['scripts/build.mjs', target]);
      const home = await newServerHome();
      try {
        const program = join(target, 'a2a-server', 'main.js');
        const server = launchServer({ home, program });
        const { url, token } = await server.ready;
        const peer = new A2aPeer({ url, token });
        const { taskId } = await (await peer.stream('append "x" to a.txt')).parked();
        const manifest = join(target, 'build.json');
        const before = await stat(manifest);
        await Promise.all([build(), build()]);
        expect((await readdir(place)).toSorted()).toEqual(['dist']);
        expect((await stat(manifest)).mtimeMs).toBeGreaterThan(before.mtimeMs);
        const listed: unknown = JSON.parse(await readFile(manifest, 'utf8'));
        expect(listed).toContain('a2a-server/main.js');
        expect((await peer.task(taskId)).state).toBe('INPUT_REQUIRED');
        expect(await server.stop()).toBe(0);
        const next = launchServer({ home, program });
        const again = new A2aPeer(await next.ready);
        expect((await again.task(taskId)).state).toBe('INPUT_REQUIRED');
        expect(await next.stop()).toBe(0);
      } finally {
        await rm(place, { recursive: true, force: true });
        await rm(homeDirectoryOf(home), { recursive: true, force: true });
      }
    },
    BUILDS_MS,
  );
});
