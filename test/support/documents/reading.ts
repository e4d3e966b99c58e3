/** How a test reads a block of commands in a document. */
import type { SurroundingName } from './surroundings.ts';

/** A block that no test can run, or how a test runs it. */
export type Reading = { notRun: string } | Run;

export interface Run {
  /** True for a block in the home and the shell of the block before. By default, blocks of one heading share both. */
  continues?: boolean;
  /** True if the commands change files of the clone. They then run in a copy of it. */
  clone?: boolean;
  /** What is around the reader: a model provider, another agent. */
  around?: readonly SurroundingName[];
  /** Programs that the reader has and the machine of the test may lack, as scripts for sh. */
  programs?: Readonly<Record<string, string>>;
  /** What the reader has done before, in other words than this document. */
  before?: string;
  /**
   * What the reader writes in the place of an example. A pattern is what the commands before have printed: its first
   * group, of the last match. `~` at the beginning is the reader's home.
   */
  replace?: Readonly<Record<string, string | RegExp>>;
  /** What the reader types at a terminal, by the text that asks for it. */
  types?: Readonly<Record<string, string>>;
  /** What the standard input of the last command has. */
  input?: string;
  /** The exit code of a command, by a part of its text. Any other command ends with 0. */
  exits?: Readonly<Record<string, number>>;
  /** The last command goes on. It prints this when it is ready. */
  goesOn?: RegExp;
  /** Commands that use what the block has made. */
  use?: string;
  /** What is printed in the end. A transcript is compared without it. */
  prints?: RegExp;
}

/** The readings of a document: by heading, one for each block. */
export type Readings = Readonly<Record<string, Reading | readonly Reading[]>>;

export const notRun = (reason: string): Reading => ({ notRun: reason });
