/** The values of the settings `onCancel` and `onDisconnect`: what happens to a task without the client's call. */
export const ON_CANCEL = ['detach', 'cancel'] as const;
export type OnCancel = (typeof ON_CANCEL)[number];
