/** What the files that describe a project say of it: its name, and the commands that work on it. Pure; never throws. */
import { parse as parseToml } from '@decimalturn/toml-patch';
import { z } from 'zod';

/** What a project's file tells. `commands`: what for, and the command line. */
export interface ProjectFacts {
  name?: string | undefined;
  description?: string | undefined;
  commands: readonly (readonly [purpose: string, command: string])[];
}

const NOTHING: ProjectFacts = { commands: [] };

/** How each file is read; in the order in which what they say of the name counts. */
export const PROJECT_FILES: Readonly<
  Record<string, (text: string, beside: readonly string[]) => ProjectFacts>
> = {
  'package.json': packageJson,
  'pyproject.toml': pyproject,
  'Cargo.toml': cargo,
  'go.mod': goModule,
  Makefile: makefile,
  justfile: justfile,
};

const npmPackage = z.object({
  name: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
  scripts: z.record(z.string(), z.unknown()).catch({}),
});

/** A lock file tells who installs. */
const NODE_MANAGERS = [
  ['pnpm-lock.yaml', 'pnpm', 'pnpm install'],
  ['yarn.lock', 'yarn', 'yarn install'],
  ['bun.lock', 'bun', 'bun install'],
  ['package-lock.json', 'npm', 'npm ci'],
] as const;

/** Run by others, not by hand. */
const LIFE_CYCLE = /^(?:pre|post)|^(?:prepare|prepublish|prepublishOnly|install|version)$/;

function packageJson(text: string, beside: readonly string[]): ProjectFacts {
  const parsed = npmPackage.safeParse(jsonOf(text));
  if (!parsed.success) return NOTHING;
  const { name, description, scripts } = parsed.data;
  const [, manager, install] = NODE_MANAGERS.find(([lock]) => beside.includes(lock)) ?? [
    '',
    'npm',
    'npm install',
  ];
  const own = Object.keys(scripts).filter((script) => !LIFE_CYCLE.test(script));
  return {
    name,
    description,
    commands: [
      ['install', install],
      ...own.map(
        (script) => [script, script === 'test' ? `${manager} test` : `${manager} run ${script}`] as const,
      ),
    ],
  };
}

const named = z.object({
  name: z.string().optional().catch(undefined),
  description: z.string().optional().catch(undefined),
});
const pythonProject = z.object({
  project: named.optional().catch(undefined),
  tool: z.record(z.string(), z.unknown()).catch({}),
});

function pyproject(text: string, beside: readonly string[]): ProjectFacts {
  const parsed = pythonProject.safeParse(tomlOf(text));
  if (!parsed.success) return NOTHING;
  const { project, tool } = parsed.data;
  const uv = beside.includes('uv.lock') || 'uv' in tool;
  const poetry = 'poetry' in tool;
  const run = uv ? 'uv run ' : poetry ? 'poetry run ' : '';
  const commands: [string, string][] = [
    ['install', uv ? 'uv sync' : poetry ? 'poetry install' : 'pip install -e .'],
  ];
  if ('pytest' in tool || beside.includes('tests') || beside.includes('pytest.ini'))
    commands.push(['test', `${run}pytest`]);
  if ('ruff' in tool) commands.push(['lint', `${run}ruff check .`]);
  if ('mypy' in tool) commands.push(['types', `${run}mypy .`]);
  return { ...project, commands };
}

const cargoManifest = z.object({ package: named.optional().catch(undefined) });

function cargo(text: string): ProjectFacts {
  const parsed = cargoManifest.safeParse(tomlOf(text));
  if (!parsed.success) return NOTHING;
  return {
    ...parsed.data.package,
    commands: [
      ['build', 'cargo build'],
      ['test', 'cargo test'],
      ['lint', 'cargo clippy'],
    ],
  };
}

function goModule(text: string): ProjectFacts {
  const name = /^module\s+(\S+)/m.exec(text)?.[1];
  return {
    name,
    commands: [
      ['build', 'go build ./...'],
      ['test', 'go test ./...'],
      ['lint', 'go vet ./...'],
    ],
  };
}

/** More targets than this are nobody's overview. */
const MAX_TARGETS = 20;

function makefile(text: string): ProjectFacts {
  const targets = [...text.matchAll(/^([A-Za-z][\w-]*)\s*:(?!=)/gm)].map(([, target = '']) => target);
  return { commands: unique(targets).map((target) => [target, `make ${target}`]) };
}

function justfile(text: string): ProjectFacts {
  // A parameter may have a default, and an assignment is no recipe.
  const found = text.matchAll(/^@?(?![\w-]+\s*:=)([A-Za-z][\w-]*)(?:[ \t][^\n]*?)?:(?!=)/gm);
  const recipes = [...found].map(([, recipe = '']) => recipe);
  return { commands: unique(recipes).map((recipe) => [recipe, `just ${recipe}`]) };
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)].slice(0, MAX_TARGETS);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function tomlOf(text: string): unknown {
  try {
    return parseToml(text);
  } catch {
    return undefined;
  }
}
