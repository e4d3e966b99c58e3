/** D2: compares what a tool call would change now with what the person saw. Pure. */
import { isDeepStrictEqual } from 'node:util';
import type { Preview } from '../../shared/protocol/tool-approval.ts';
import { fieldOf } from '../../shared/runtime/record.ts';
import type { PreviewWithBasis } from './tool.ts';

/** False if nothing outside the input of the call can change what it does. */
export function mayBecomeOutdated({ basis, preview }: PreviewWithBasis): boolean {
  return basis !== null || preview.type === 'command';
}

/**
 * True if the person saw another content, or another place. A link on the path may lead to another place now, and its
 * file may have the same content.
 */
export function isOutdated(shown: PreviewWithBasis, now: PreviewWithBasis): boolean {
  return shown.basis !== now.basis || !isDeepStrictEqual(placeOf(shown.preview), placeOf(now.preview));
}

/** Returns the place that a preview names after links are resolved. */
function placeOf(preview: Preview): unknown {
  switch (preview.type) {
    case 'diff':
      return preview.path;
    case 'command':
      return preview.cwd;
    case 'json':
      // The new name of a file that is moved. The basis covers its old name. An MCP tool may have a list or an object here.
      return fieldOf(preview.value, 'to');
    case 'url':
    case 'question':
      return undefined;
  }
}
