import { userInfo } from 'node:os';

/**
 * Returns the name of the operating system's user. If the user id has no name, as in some containers, returns the id.
 */
export function osUserName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? '');
  }
}
