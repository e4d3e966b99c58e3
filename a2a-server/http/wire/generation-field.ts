/**
 * Reads and writes the fields of A2A 1.1 (the branch `dev-1.1`) that the SDK's codec does not know. The codec drops
 * unknown fields. So the server first puts a generation into the metadata of the task or event. After the codec has
 * run, this file moves the generation into its field.
 */
import type { StreamResponse } from '@a2a-js/sdk';
import { z } from 'zod';
import { isRecord } from '../../../shared/runtime/record.ts';
import { validateRequestInput } from './validate-request-input.ts';

/** The metadata key that contains the generation until the codec has run. The server uses this key for nothing else. */
const METADATA_KEY = 'a2a-1.1/generation';

interface WithMetadata {
  metadata?: Record<string, unknown> | undefined;
}

/** Adds the generation to a task or an update event. */
export function withGenerationMetadata<T extends WithMetadata>(value: T, generation: number): T {
  return { ...value, metadata: { ...value.metadata, [METADATA_KEY]: generation } };
}

export function eventWithGeneration(event: StreamResponse, generation: number): StreamResponse {
  const { payload } = event;
  if (payload?.$case === 'statusUpdate')
    return { payload: { $case: 'statusUpdate', value: withGenerationMetadata(payload.value, generation) } };
  if (payload?.$case === 'artifactUpdate')
    return { payload: { $case: 'artifactUpdate', value: withGenerationMetadata(payload.value, generation) } };
  return event;
}

/**
 * Moves each generation of an encoded answer or event into its field. ProtoJSON writes an int64 as a string.
 * @param encoded a task, a list of tasks, or an object with a task or an event
 */
export function moveGenerationsIntoFields<T>(encoded: T): T {
  moveGenerationIntoField(encoded);
  if (!isRecord(encoded)) return encoded;
  moveGenerationIntoField(encoded['task']);
  moveGenerationIntoField(encoded['statusUpdate']);
  moveGenerationIntoField(encoded['artifactUpdate']);
  if (Array.isArray(encoded['tasks'])) encoded['tasks'].forEach(moveGenerationIntoField);
  return encoded;
}

function moveGenerationIntoField(object: unknown): void {
  if (!isRecord(object) || !isRecord(object['metadata']) || !Object.hasOwn(object['metadata'], METADATA_KEY))
    return;
  // The codec does not copy the metadata, so another event or reader may have the same metadata object. This code
  // replaces that object and does not change it.
  const { [METADATA_KEY]: generation, ...metadata } = object['metadata'];
  object['generation'] = String(generation);
  if (Object.keys(metadata).length === 0) delete object['metadata'];
  else object['metadata'] = metadata;
}

/** The schema of an int64. ProtoJSON: an int64 is a number, or a string of digits. */
const int64 = z
  .union(
    [
      z.int(),
      z
        .string()
        .regex(/^-?\d{1,19}$/)
        .transform(Number),
    ],
    { error: 'expected a whole number' },
  )
  .nullish();

const wanted = z.looseObject({
  currentGeneration: int64,
  configuration: z.looseObject({ ifGenerationMatch: int64 }).nullish(),
});

/** The generations in the parameters of a request. */
export interface RequestedGenerations {
  /** GetTask waits until the task has a greater generation than this one (`long-poll-task.ts`). */
  current?: number | undefined;
  /** The generation that the task must have when it gets the message. */
  match?: number | undefined;
}

/**
 * Reads the generations from parameters that `request-schemas.ts` has checked.
 * @throws ProductError MALFORMED
 */
export function parseRequestedGenerations(operation: string, params: unknown): RequestedGenerations {
  const { currentGeneration, configuration } = validateRequestInput(
    wanted,
    params,
    `The parameters of ${operation} are not valid`,
  );
  return {
    current: currentGeneration ?? undefined,
    match: configuration?.ifGenerationMatch ?? undefined,
  };
}
