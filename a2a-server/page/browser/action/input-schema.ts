/** Reads the JSON Schema of a tool's input, for the form that edits it. */
import { createContext } from 'preact';
import { useContext, useState } from 'preact/hooks';
import { useLoaded } from '../use-loaded.ts';

/** Returns the input schema of a tool call, or undefined if there is none. */
type ReadInputSchema = (callId: string) => Promise<unknown>;

/**
 * Reads the schema of a call's input. The default finds none. The approval card in a chat uses this default, so the
 * person edits JSON there.
 */
export const InputSchemaContext = createContext<ReadInputSchema>(() => Promise.resolve(undefined));

/** Whether the schema is still loading. `schema` is undefined if the tool has none. */
type InputSchemaState = { type: 'loading' } | { type: 'known'; schema: unknown };

/** @param callId null if no schema is needed */
export function useInputSchema(callId: string | null): InputSchemaState {
  const read = useContext(InputSchemaContext);
  const [known, setKnown] = useState<InputSchemaState>({ type: 'loading' });
  const take = (schema: unknown): void => setKnown({ type: 'known', schema });
  useLoaded({
    load: () => (callId === null ? Promise.resolve(undefined) : read(callId)),
    onLoaded: take,
    // Without a schema, the person can still edit the JSON text.
    onFailure: () => take(undefined),
    inputs: [read, callId],
  });
  return known;
}
