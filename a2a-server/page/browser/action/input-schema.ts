/** Reads the JSON Schema of a tool's input, for the form that edits it. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { useLoaded } from '../use-loaded.ts';

/** Returns the input schema of a tool call, or undefined if there is none. */
type ReadInputSchema = (callId: string) => Promise<unknown>;

/**
 * Reads the schema of a call's input. The default returns no schema. The approval card in a chat uses this default, so
 * the person edits JSON there.
 */
export const InputSchemaContext = createContext<ReadInputSchema>(() => Promise.resolve(undefined));

/**
 * Returns undefined while the schema is loading.
 * @param callId null if no schema is needed
 */
export function useInputSchema(callId: string | null): { schema: unknown } | undefined {
  const read = useContext(InputSchemaContext);
  return useLoaded(async () => {
    // Without a schema, the person can still edit the JSON text.
    const schema = callId === null ? undefined : await read(callId).catch(() => undefined);
    return { schema };
  }, [read, callId]).value;
}
