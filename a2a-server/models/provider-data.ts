import type { SharedV3ProviderMetadata, SharedV3ProviderOptions } from '@ai-sdk/provider';

/** The options of a request or the metadata of a part, by the provider's namespace in the AI SDK. */
export type ProviderData = SharedV3ProviderMetadata & SharedV3ProviderOptions;

/** Merges the fields of each namespace. Fields of `second` replace fields of `first`. */
export function mergeProviderData(
  first: ProviderData | undefined,
  second: ProviderData | undefined,
): ProviderData | undefined {
  if (second === undefined) return first;
  const merged = { ...first };
  for (const [namespace, fields] of Object.entries(second))
    merged[namespace] = { ...merged[namespace], ...fields };
  return merged;
}
