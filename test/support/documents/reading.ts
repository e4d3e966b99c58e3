/** How a test reads a block of commands in a document. */
import type { SurroundingName } from './surroundings.ts';

/** A block that no test can run, or how a test runs it. */
export type Reading = { notRun: string } | Run;

export interface Run {
  /** True for a block in the home and the shell of the block before. By default, blocks of one heading share both. */
  continues?: boolean;
  /** True if the commands change files of the clone. They then run in a copy of it. */
  clone?: boolean;
  /** What the block needs beside this project, e.g. a model provider or another agent. */
  around?: readonly SurroundingName[];
  /** Programs that the reader has and the machine of the test may lack, as scripts for sh. */
  programs?: Readonly<Record<string, string>>;
  /** Commands that run before the block and are not in this document. */
  before?: string;
  /**
   * The text that replaces each example. For a pattern, it is the first group of the last match in the output so far.
   * `~` at the beginning is the reader's home.
   */
  replace?: Readonly<Record<string, string | RegExp>>;
  /** What the reader types at a terminal, by the text that asks for it. */
  types?: Readonly<Record<string, string>>;
  /** The standard input of the last command. */
  input?: string;
  /** The exit code of a command, by a part of its text. Any other command ends with 0. */
  exits?: Readonly<Record<string, number>>;
  /** Present if the last command runs in the background. The command prints this when it is ready. */
  goesOn?: RegExp;
  /** Commands that run after the block. */
  use?: string;
  /** What the commands must print by the end. A transcript needs no such pattern. */
  prints?: RegExp;
}

/** The readings of a document: by heading, one for each block. */
export type Readings = Readonly<Record<string, Reading | readonly Reading[]>>;

export const notRun = (reason: string): Reading => ({ notRun: reason });
