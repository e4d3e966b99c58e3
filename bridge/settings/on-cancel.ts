/** The values of the settings `onCancel` and `onDisconnect`: whether the task of a stopped tool call goes on. */
export const ON_CANCEL_VALUES = ['detach', 'cancel'] as const;
export type OnCancel = (typeof ON_CANCEL_VALUES)[number];
