import { userInfo } from 'node:os';

/** Returns the user of the operating system. In a container, the user id may have no name. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? '');
  }
}
