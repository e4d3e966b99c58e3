/** The text of AGENTS.md, from what was seen of a workspace: short, and nothing in it that was not seen. Pure. */
import { count } from '../../tools/one-line.ts';
import type { Survey } from './survey.ts';

/** What an extension is the extension of, where it is a language. */
const LANGUAGES: Readonly<Record<string, string>> = {
  '.ts': 'TypeScript',
  '.tsx': 'TypeScript',
  '.mts': 'TypeScript',
  '.js': 'JavaScript',
  '.mjs': 'JavaScript',
  '.cjs': 'JavaScript',
  '.jsx': 'JavaScript',
  '.py': 'Python',
  '.rs': 'Rust',
  '.go': 'Go',
  '.java': 'Java',
  '.kt': 'Kotlin',
  '.swift': 'Swift',
  '.c': 'C',
  '.h': 'C',
  '.cc': 'C++',
  '.cpp': 'C++',
  '.hpp': 'C++',
  '.cs': 'C#',
  '.rb': 'Ruby',
  '.php': 'PHP',
  '.scala': 'Scala',
  '.ex': 'Elixir',
  '.exs': 'Elixir',
  '.hs': 'Haskell',
  '.lua': 'Lua',
  '.sh': 'shell',
  '.sql': 'SQL',
};

/** Files that say how code is to look. */
const STYLE_FILES =
  /^(?:\.editorconfig|\.prettierrc.*|prettier\.config\..*|\.?eslint.*|\.oxlintrc\.json|biome\.jsonc?|tsconfig\.json|ruff\.toml|\.ruff\.toml|\.rubocop\.yml|rustfmt\.toml|\.clang-format|CONTRIBUTING\.md)$/;

const MAX_LANGUAGES = 4;
const MAX_DIRECTORIES = 15;
const MAX_PARAGRAPH = 400;

export function agentsFile(survey: Survey): string {
  const sections = [
    projectSection(survey),
    commandSection(survey),
    layoutSection(survey),
    styleSection(survey),
  ];
  return [
    '# AGENTS.md',
    'What an agent needs to know to work here. Made from what lies in the directory: correct what is wrong, add what cannot be seen.',
    ...sections.filter((section) => section !== ''),
  ]
    .join('\n\n')
    .concat('\n');
}

function projectSection({ projects, readme, directory, extensions }: Survey): string {
  const name = projects.find((it) => it.name)?.name ?? readme?.title ?? directory;
  const about = projects.find((it) => it.description)?.description ?? readme?.paragraph;
  const languages = languagesOf(extensions);
  return [
    '## Project',
    '',
    about === undefined ? `${name}.` : `${name}: ${cut(about)}`,
    ...(languages === '' ? [] : ['', `Languages: ${languages}.`]),
  ].join('\n');
}

function languagesOf(extensions: Survey['extensions']): string {
  const files = new Map<string, number>();
  for (const [extension, number] of extensions) {
    const language = LANGUAGES[extension];
    if (language !== undefined) files.set(language, (files.get(language) ?? 0) + number);
  }
  return mostFirst(files)
    .slice(0, MAX_LANGUAGES)
    .map(([language, number]) => `${language} (${count(number, 'file')})`)
    .join(', ');
}

function commandSection({ projects }: Survey): string {
  const commands = projects.flatMap((it) => it.commands);
  if (commands.length === 0) return '';
  return ['## Commands', '', ...commands.map(([purpose, command]) => `- ${purpose}: \`${command}\``)].join(
    '\n',
  );
}

function layoutSection({ directories, cut: partly }: Survey): string {
  if (directories.size === 0) return '';
  const largest = mostFirst(directories).slice(0, MAX_DIRECTORIES);
  const lines = largest.map(([name, number]) => `- \`${name}/\` (${count(number, 'file')})`);
  const rest = directories.size - largest.length;
  return [
    '## Layout',
    '',
    ...lines,
    ...(rest > 0 ? [`- and ${count(rest, 'smaller directory').replace(/directorys$/, 'directories')}`] : []),
    ...(partly ? ['', 'There are more files than were counted.'] : []),
  ].join('\n');
}

function styleSection({ top }: Survey): string {
  const files = top.filter((name) => STYLE_FILES.test(name));
  if (files.length === 0) return '';
  return ['## Style', '', `Set by ${files.map((name) => `\`${name}\``).join(', ')}.`].join('\n');
}

function mostFirst(numbers: ReadonlyMap<string, number>): [string, number][] {
  return [...numbers].toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
}

function cut(text: string): string {
  return text.length <= MAX_PARAGRAPH ? text : `${text.slice(0, MAX_PARAGRAPH - 1).trimEnd()}…`;
}
