/** Shows the number of waiting actions in the title, in the icon of the tab, and on the icon of the installed page. */

import { iconSvg, pageTitle } from './title-and-icon.ts';

/** The icon that index.html names. */
const PLAIN_ICON = 'page-icon.svg';

let drawnIcon: string | undefined;

/** Shows the count, which may be 0, in all three places. */
export function showWaitingCount(count: number): void {
  document.title = pageTitle(count);
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (link === null) return;
  const before = drawnIcon;
  drawnIcon = count === 0 ? undefined : drawIcon(count);
  link.href = drawnIcon ?? PLAIN_ICON;
  if (before !== undefined) URL.revokeObjectURL(before);
  // Only an installed page has a badge, and only in some browsers.
  if ('setAppBadge' in navigator) navigator.setAppBadge(count).catch(() => undefined);
}

function drawIcon(count: number): string {
  return URL.createObjectURL(new Blob([iconSvg(count)], { type: 'image/svg+xml' }));
}
