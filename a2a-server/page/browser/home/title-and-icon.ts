/** Builds the title and the icon of the page with the number of waiting actions. Pure. */

const NAME = 'Approvals';

export function pageTitle(count: number): string {
  return count === 0 ? NAME : `(${count}) ${NAME}`;
}

/** Returns the icon as SVG. More than 99 actions show as `99+`. */
export function iconSvg(count: number): string {
  const badge =
    count === 0
      ? ''
      : `<circle cx="44" cy="44" r="20" fill="#c62828"/><text x="44" y="52" font-family="sans-serif" font-size="${count > 99 ? 16 : 24}" font-weight="700" text-anchor="middle" fill="#fff">${count > 99 ? '99+' : count}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="14" fill="#1a5fd0"/><path d="M16 33l11 11 21-24" fill="none" stroke="#fff" stroke-width="8" stroke-linecap="round" stroke-linejoin="round"/>${badge}</svg>`;
}
