/** Reads the values of options. */
import { UsageError } from './exit-codes.ts';

/**
 * Reads the value of an option that takes a whole number in decimal digits.
 * @throws UsageError if it is no such number, or not within the limits
 */
export function readNumberOption(
  flag: string,
  given: string,
  { min, max = Number.MAX_SAFE_INTEGER }: { min: number; max?: number },
): number {
  const number = Number(given);
  if (/^\d+$/.test(given) && number >= min && number <= max) return number;
  const range =
    max === Number.MAX_SAFE_INTEGER ? `from ${String(min)}` : `from ${String(min)} to ${String(max)}`;
  throw new UsageError(`${flag} needs a whole number ${range}.`);
}

/**
 * Reads the value of an option that takes one of these words.
 * @param noun names the option in the error, e.g. `scope`
 * @throws UsageError if it is none of them
 */
export function readChoiceOption<Choice extends string>(
  noun: string,
  given: string,
  choices: readonly Choice[],
): Choice {
  const chosen = choices.find((each) => each === given);
  if (chosen !== undefined) return chosen;
  throw new UsageError(`There is no ${noun} "${given}". The ${noun}s are: ${choices.join(', ')}.`);
}
