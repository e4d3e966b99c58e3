/**
 * Decides whether a rule matches a tool call. If a match is uncertain, the call does not run without a person (fail
 * closed):
 * - An `allow` rule matches only the exact spelling of the resolved path. It matches a command line only if the command
 *   line is a plain list of exactly the rule's words. If the rule ends in `…`, more words may follow.
 * - An `ask`, `presence` or `deny` rule matches the written path, the resolved path, and all their parent directories.
 *   It accepts any spelling that a file system may accept. It matches any part of a command line. The result is `maybe`
 *   if the match is uncertain.
 */
import picomatch from 'picomatch';
import { checkCommandMention, type MatchCertainty } from './command-mention.ts';
import { comparablePath } from './comparable-path.ts';
import {
  isTooLongToMatch,
  type ResolvedTargets,
  type CallFacts,
  type ResolvedTargetPath,
} from './call-facts.ts';
import { simpleCommandWords, type Shell } from './simple-command.ts';
import type { Rule } from './rule.ts';

export type RuleMatcher = (call: CallFacts) => MatchCertainty;

type Condition = (call: CallFacts) => MatchCertainty;

/**
 * Prepares a rule for matching.
 * @throws Error if a command in the rule is not a plain list of words, or if a path or a host matches nothing
 */
export function createRuleMatcher(rule: Rule, shell: Shell): RuleMatcher {
  const wide = rule.action !== 'allow';
  const { tool, server, path, command, host } = rule;
  const conditions: Condition[] = [
    ...(tool ? [yesIf(nameMatcher(tool), ({ tool: name }) => [name])] : []),
    ...(server ? [yesIf(nameMatcher(server), serverOf)] : []),
    ...(path ? [wide ? widePaths(path) : narrowPaths(path, rule)] : []),
    ...(command ? [wide ? wideCommand(command, shell) : narrowCommand(command, shell)] : []),
    ...(host ? [hostCondition(host, wide)] : []),
  ];
  return (call) => leastOf(conditions.map((condition) => condition(call)));
}

function leastOf(mentioned: readonly MatchCertainty[]): MatchCertainty {
  if (mentioned.includes('no')) return 'no';
  return mentioned.includes('maybe') ? 'maybe' : 'yes';
}

/**
 * Returns a matcher with one parameter. `Array.some` passes the index as second parameter, and picomatch would then
 * return an object.
 */
function createGlobMatcher(
  glob: picomatch.Glob,
  options: picomatch.PicomatchOptions,
): (name: string) => boolean {
  const matches = picomatch(glob, options);
  return (name) => matches(name);
}

function nameMatcher(patterns: readonly string[]): (name: string) => boolean {
  return createGlobMatcher([...patterns], { dot: true, nonegate: true });
}

function yesIf(matches: (name: string) => boolean, named: (call: CallFacts) => readonly string[]): Condition {
  return (call) => (named(call).some(matches) ? 'yes' : 'no');
}

function serverOf({ source }: CallFacts): readonly string[] {
  return source.type === 'mcp-server' ? [source.server] : [];
}

function hostCondition(patterns: readonly string[], wide: boolean): Condition {
  for (const pattern of patterns)
    if (/\/|\.$|^[^:]*:\d*$/u.test(pattern))
      throw new Error(
        `the host ${JSON.stringify(pattern)} matches nothing; a rule names a host without scheme, port, path and final dot`,
      );
  const matches = createGlobMatcher([...patterns], { dot: true, nocase: true, nonegate: true });
  return ({ reach }) => {
    if (reach.hosts.length === 0 || (!wide && reach.incomplete)) return 'no';
    const found = wide ? reach.hosts.some(matches) : reach.hosts.every(matches);
    return found ? 'yes' : 'no';
  };
}

interface Glob {
  matches: (path: string) => boolean;
  /** The directory that contains all matches. Undefined for a plain name, because a name matches at any depth. */
  base: string | undefined;
}

function globsOf(patterns: readonly string[], nocase: boolean): readonly Glob[] {
  return patterns.map((each) => {
    const pattern = each.replace(/^(?:\.?\/)+/u, '');
    const anywhere = !pattern.includes('/');
    // The paths of calls are normalised, so a pattern with an empty part or the part `.` would match nothing. A deny
    // rule would then deny nothing.
    if (!anywhere && pattern.split('/').some((part) => part === '' || part === '.'))
      throw new Error(
        `the path ${JSON.stringify(each)} matches nothing, because it has a final slash or an empty part; "secrets/**" names a directory with everything in it`,
      );
    return {
      matches: createGlobMatcher(pattern, { dot: true, nocase, nonegate: true, basename: anywhere }),
      base: anywhere ? undefined : picomatch.scan(pattern, { nonegate: true }).base,
    };
  });
}

/**
 * Matches paths for an allow rule. A directory tree never matches, because some of its files might not match. A command
 * or a request with a matching path has other effects too. So the rule must also name the command or the host.
 */
function narrowPaths(
  patterns: readonly string[],
  { command: commands, host }: Pick<Rule, 'command' | 'host'>,
): Condition {
  const globs = globsOf(patterns, false);
  const allowed = (path: string | undefined): boolean =>
    path !== undefined && globs.some(({ matches }) => matches(path));
  return ({ reach }) => {
    const { paths, trees, command, cwd, hosts: requested, incomplete } = reach;
    if (incomplete || trees.length > 0 || hasTooLongPath(reach)) return 'no';
    if ((command !== undefined && !commands) || (requested.length > 0 && !host)) return 'no';
    const taken = [...paths, ...(cwd ? [cwd] : [])].map(({ leadsTo }) => leadsTo);
    return taken.length > 0 && taken.every(allowed) ? 'yes' : 'no';
  };
}

function widePaths(patterns: readonly string[]): Condition {
  const globs = globsOf(
    [...new Set(patterns.flatMap((pattern) => [pattern, comparablePath(pattern)]))],
    true,
  );
  return ({ reach }) => (hasTooLongPath(reach) || touchesPath(globs, reach) ? 'yes' : 'no');
}

function hasTooLongPath({ paths, trees, cwd }: ResolvedTargets): boolean {
  return [...paths, ...trees, ...(cwd ? [cwd] : [])].some(({ written, leadsTo = written }) =>
    [written, leadsTo].some(isTooLongToMatch),
  );
}

function pathNames({ written, leadsTo = written }: ResolvedTargetPath): readonly string[] {
  const paths = written === leadsTo ? [written] : [written, leadsTo];
  return [...new Set(paths.flatMap((path) => [path, comparablePath(path)]))];
}

function touchesPath(globs: readonly Glob[], { paths, trees, cwd }: ResolvedTargets): boolean {
  const names = [...paths, ...trees, ...(cwd ? [cwd] : [])].flatMap(pathNames).flatMap(withDirectoriesAbove);
  const treeNames = trees.flatMap(pathNames);
  return globs.some((glob) => names.some(glob.matches) || treeNames.some((tree) => mayHold(tree, glob)));
}

function withDirectoriesAbove(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

function mayHold(tree: string, { base }: Glob): boolean {
  if (base === undefined || base === '' || tree === '.') return true;
  const [directory, root] = [tree.toLowerCase(), base.toLowerCase()];
  return directory === root || directory.startsWith(`${root}/`) || root.startsWith(`${directory}/`);
}

interface CommandPattern {
  words: readonly string[];
  /** True if an `allow` rule also allows more words, such as options and values. */
  open: boolean;
}

/** Matches the end of a pattern that allows more words. */
const OPEN_END = / (?:…|\.\.\.)$/u;

function commandsOf(patterns: readonly string[], shell: Shell): readonly CommandPattern[] {
  return patterns.map((pattern) => {
    const words = simpleCommandWords(pattern.replace(OPEN_END, ''), shell);
    if (words === undefined || words.includes('…') || words.includes('...'))
      throw new Error(
        `the command ${JSON.stringify(pattern)} is not a plain list of words; a rule names a program and its arguments, e.g. "git status", and may end in " …" to allow further ones. Put an argument with other characters in quotes, e.g. "cat '~/.netrc'"`,
      );
    return { words, open: OPEN_END.test(pattern) };
  });
}

function narrowCommand(patterns: readonly string[], shell: Shell): Condition {
  const allowed = commandsOf(patterns, shell);
  return ({ reach: { command, cwd, incomplete } }) => {
    // If the working directory is outside the workspace, no `allow` rule matches. A program reads files there, e.g.
    // `package.json`, so the same command may do something else.
    const elsewhere = cwd !== undefined && cwd.leadsTo === undefined;
    const words =
      command === undefined || incomplete || elsewhere ? undefined : simpleCommandWords(command, shell);
    return words && allowed.some((pattern) => matchesCommand(pattern, words)) ? 'yes' : 'no';
  };
}

function matchesCommand(pattern: CommandPattern, words: readonly string[]): boolean {
  const begins = pattern.words.every((word, at) => words[at] === word);
  return begins && (pattern.open || words.length === pattern.words.length);
}

function wideCommand(patterns: readonly string[], shell: Shell): Condition {
  const named = commandsOf(patterns, shell);
  return ({ reach: { command } }) => {
    if (command === undefined) return 'no';
    const mentioned = named.map(({ words }) => checkCommandMention(command, words, shell));
    if (mentioned.includes('yes')) return 'yes';
    return mentioned.includes('maybe') ? 'maybe' : 'no';
  };
}
