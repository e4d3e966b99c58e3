/** Reads the JSON Schema of a tool's input, for the form that edits it. */
import { createContext } from 'preact';
import { useContext, useEffect, useState } from 'preact/hooks';

/** Returns the input schema of a tool call, or undefined if there is none. */
type ReadInputSchema = (callId: string) => Promise<unknown>;

/** The card in a chat has no schemas, so it edits JSON. */
export const InputSchemaContext = createContext<ReadInputSchema>(() => Promise.resolve(undefined));

/** Whether the schema is still loading. `schema` is undefined if the tool has none. */
type InputSchemaState = { type: 'loading' } | { type: 'known'; schema: unknown };

/** @param callId null if no schema is needed */
export function useInputSchema(callId: string | null): InputSchemaState {
  const read = useContext(InputSchemaContext);
  const [known, setKnown] = useState<InputSchemaState>({ type: 'loading' });
  useEffect(() => {
    let current = true;
    const take = (schema: unknown): void => {
      if (current) setKnown({ type: 'known', schema });
    };
    if (callId === null) take(undefined);
    // Without a schema, the person can still edit the JSON text.
    else read(callId).then(take, () => take(undefined));
    return () => {
      current = false;
    };
  }, [read, callId]);
  return known;
}
