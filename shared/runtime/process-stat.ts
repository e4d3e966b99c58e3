/** Reads a line of `/proc/<pid>/stat` of Linux (proc(5)). */

export interface ProcessStat {
  /** True for a zombie: a process that has ended, but whose exit code its parent has not read yet. */
  ended: boolean;
  group: number;
  /** The start time in clock ticks since the boot of the machine. */
  started: string;
}

/** @param line the whole content of the file */
export function parseProcessStat(line: string): ProcessStat {
  // Field 2 is the command in parentheses. It may contain any character, even parentheses and spaces.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const fieldAt = (number: number): string => fields[number - 3] ?? '';
  // A process whose main thread alone has ended also has the state Z. Its other threads continue.
  const threads = Number(fieldAt(20));
  const ended = /^[Xx]$/.test(fieldAt(3)) || (fieldAt(3) === 'Z' && threads <= 1);
  return { ended, group: Number(fieldAt(5)), started: fieldAt(22) };
}
