/** Merges provider data of the AI SDK: the options of a request, or the metadata of a part. Pure. */
import type { SharedV3ProviderMetadata, SharedV3ProviderOptions } from '@ai-sdk/provider';

/** Maps the namespace of a provider to its fields. */
export type ProviderData = SharedV3ProviderMetadata & SharedV3ProviderOptions;

/** Merges the data of each namespace, field by field. @returns undefined if both are undefined */
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
