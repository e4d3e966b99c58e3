import type { SideEffect } from './call-view.ts';

/** Says for a person what each kind of call can change. '' for a call that only reads. */
export const SIDE_EFFECT_TEXTS: Readonly<Record<SideEffect, string>> = {
  none: '',
  files: 'changes files',
  command: 'runs a command',
  network: 'uses the network',
  other: 'may do anything',
};
