/**
 * Defines what the documents of all registries have in common: a limited list of entries, and the error for an unusable
 * document.
 */
import { z } from 'zod';
import { ProductError } from '../../../../shared/runtime/errors.ts';

const MAX_ENTRIES = 2_000;

export const registryEntriesSchema = z.array(z.unknown()).max(MAX_ENTRIES);

/** Returns the error for a document that cannot be used. @param problem a clause without a full stop */
export function unusableRegistryError(problem: string, cause?: unknown): ProductError {
  return new ProductError('CONFIGURATION', `This is no registry of A2A agents: ${problem}.`, { cause });
}
