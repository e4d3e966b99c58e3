/**
 * Writes the packages for MCP clients into `dist/client-packages`. They contain the program of this clone:
 * `npm run packages`. For a release, they start the published program with npx: `npm run packages -- --release`.
 * `--out <directory>` names another directory, which is replaced.
 */
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, parse, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { clientPackages, DIRECTORIES } from './client-packages.ts';
import { parseCommand } from './parse-command.ts';
import { copyProgram } from './copy-program.ts';
import { describePackage, PROGRAM_DIRECTORY, type PackageFiles } from './package-description.ts';

const SOURCES = 'scripts/client-packages';
const ICON = 'a2a-server/page/browser/page-icon-512.png';

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: 'dist/client-packages' },
    release: { type: 'boolean', default: false },
  },
});
const out = resolve(values.out);
const about = describePackage(await readFile('package.json', 'utf8'), values);
const commandFiles = await readdir(join(SOURCES, 'commands'));
const commands = await Promise.all(
  commandFiles.map(async (file) =>
    parseCommand(parse(file).name, await readFile(join(SOURCES, 'commands', file), 'utf8')),
  ),
);
const { common, packages } = clientPackages(about, { out, commands, platform: process.platform });

await rm(out, { recursive: true, force: true });
await writeFiles(out, common);
for (const directory of DIRECTORIES) await writeFiles(join(out, directory), packages[directory]);
for (const directory of ['claude-code', 'codex', 'gemini-cli', 'agent-plugin'])
  await cp(join(SOURCES, 'skills'), join(out, directory, 'skills'), { recursive: true });
await cp(join(SOURCES, 'commands'), join(out, 'claude-code', 'commands'), { recursive: true });
// The hooks, and a command that only Claude Code can use.
await cp(join(SOURCES, 'claude-code'), join(out, 'claude-code'), { recursive: true });
await cp(ICON, join(out, 'claude-code', '.claude-plugin', 'icon.png'));
await cp(ICON, join(out, 'desktop-bundle', 'icon.png'));
// A desktop bundle has its program in any case.
const withProgram = about.origin.type === 'bundled' ? DIRECTORIES : (['desktop-bundle'] as const);
for (const directory of withProgram) await copyProgram(join(out, directory, PROGRAM_DIRECTORY));
process.stdout.write(`Written to ${out}\n`);

async function writeFiles(directory: string, files: PackageFiles): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), text);
  }
}
