/** A look at a workspace, within bounds: what `init` can say of it without a model. Reads, and nothing else. */
import { ProductError } from '../../../shared/errors.ts';
import type { Workspace } from '../../tools/workspace.ts';
import { PROJECT_FILES, type ProjectFacts } from './project-files.ts';

/** Files that are counted; a larger workspace is told from its first ones. */
const MAX_FILES = 20_000;

export interface Survey {
  /** The last part of the workspace's path. */
  directory: string;
  /** The first heading of the README, and its first paragraph. */
  readme: { title?: string; paragraph?: string } | undefined;
  projects: readonly ProjectFacts[];
  /** Files by extension, dot included. */
  extensions: ReadonlyMap<string, number>;
  /** Top directories with how many files are below each. */
  directories: ReadonlyMap<string, number>;
  /** Names of files and directories at the top. */
  top: readonly string[];
  /** Not everything was counted. */
  cut: boolean;
}

export async function survey(workspace: Workspace, signal: AbortSignal): Promise<Survey> {
  const { entries } = await workspace.list('.');
  const top = entries.map(({ name }) => name);
  const files = entries.filter(({ kind }) => kind === 'file').map(({ name }) => name);
  const counted = await countFiles(workspace, signal);
  const projects: ProjectFacts[] = [];
  for (const [name, read] of Object.entries(PROJECT_FILES)) {
    const text = files.includes(name) ? await textOf(workspace, name) : undefined;
    if (text !== undefined) projects.push(read(text, top));
  }
  const readme = files.find((name) => /^readme(?:\.(?:md|rst|txt))?$/i.test(name));
  const text = readme === undefined ? undefined : await textOf(workspace, readme);
  return {
    directory: workspace.root.split(/[\\/]/).at(-1) ?? '',
    readme: text === undefined ? undefined : beginningOf(text),
    projects,
    top,
    ...counted,
  };
}

async function countFiles(
  workspace: Workspace,
  signal: AbortSignal,
): Promise<Pick<Survey, 'extensions' | 'directories' | 'cut'>> {
  const extensions = new Map<string, number>();
  const directories = new Map<string, number>();
  let files = 0;
  let cut = false;
  await workspace.walk('.', { signal, includeIgnored: false }, async (directory) => {
    cut ||= directory.cut;
    const [top = ''] = directory.path.split('/');
    for (const { name, kind } of directory.entries) {
      if (kind !== 'file') continue;
      files += 1;
      const extension = /\.[A-Za-z0-9]{1,10}$/.exec(name)?.[0].toLowerCase();
      if (extension !== undefined) extensions.set(extension, (extensions.get(extension) ?? 0) + 1);
      if (top !== '') directories.set(top, (directories.get(top) ?? 0) + 1);
    }
    if (files < MAX_FILES) return 'go on';
    cut = true;
    return 'stop';
  });
  return { extensions, directories, cut };
}

/** Undefined for what is no text: it tells nothing then. */
async function textOf(workspace: Workspace, name: string): Promise<string | undefined> {
  try {
    return (await workspace.read(name))?.content;
  } catch (error) {
    if (error instanceof ProductError) return undefined;
    throw error;
  }
}

function beginningOf(text: string): { title?: string; paragraph?: string } {
  const title = /^#\s+(.+)$/m.exec(text)?.[1]?.trim();
  const paragraphs = text.split(/\n\s*\n/).map((it) => it.trim());
  const paragraph = paragraphs.find((it) => /^[\p{L}\p{N}*_`]/u.test(it))?.replaceAll(/\s+/g, ' ');
  return { ...(title !== undefined && { title }), ...(paragraph !== undefined && { paragraph }) };
}
