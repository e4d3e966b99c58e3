/** The tiers: names for models. A client can use a tier without knowing the server's models. */
export const MODEL_TIERS = ['fast', 'smart'] as const;
export type ModelTier = (typeof MODEL_TIERS)[number];
