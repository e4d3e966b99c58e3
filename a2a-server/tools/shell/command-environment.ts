import type { Environment } from '../../../shared/runtime/environment.ts';

/**
 * The harmless variables that programs need. A trailing `*` matches any ending. A command gets another variable only if
 * the operator allows it.
 */
const POSIX = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'LC_*',
  'TZ',
  'TERM',
  'TMPDIR',
  'XDG_CACHE_HOME',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
  'XDG_STATE_HOME',
  'XDG_RUNTIME_DIR',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
];

/** The variables without which most Windows programs do not start. */
const WINDOWS = [
  'SYSTEMROOT',
  'SYSTEMDRIVE',
  'WINDIR',
  'COMSPEC',
  'PATHEXT',
  'TEMP',
  'TMP',
  'USERNAME',
  'USERPROFILE',
  'HOMEDRIVE',
  'HOMEPATH',
  'APPDATA',
  'LOCALAPPDATA',
  'PROGRAMDATA',
  'PROGRAMFILES*',
  'COMMONPROGRAMFILES*',
  'NUMBER_OF_PROCESSORS',
  'PROCESSOR_*',
  'OS',
];

/**
 * Returns the environment variables that a command gets. The function leaves out all other variables, because they may
 * be secrets.
 * @param also further names that the operator allows, e.g. `JAVA_HOME` or `CARGO_*`
 */
export function commandEnvironment(
  environment: Environment,
  also: readonly string[] = [],
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const windows = platform === 'win32';
  // Windows ignores the case of variable names.
  const spelt = (name: string) => (windows ? name.toUpperCase() : name);
  const allowed = [...POSIX, ...(windows ? WINDOWS : []), ...also].map(spelt);
  const exact = new Set(allowed.filter((name) => !name.endsWith('*')));
  const prefixes = allowed.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1));
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    const known = spelt(name);
    if (value === undefined) continue;
    if (exact.has(known) || prefixes.some((prefix) => known.startsWith(prefix))) passed[name] = value;
  }
  return passed;
}
