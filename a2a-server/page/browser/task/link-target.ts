/** Returns the address of a link, or undefined if the page does not link to it. */
export function allowedLinkUrl(href: string): URL | undefined {
  if (!URL.canParse(href)) return undefined;
  const url = new URL(href);
  const { protocol, username, password } = url;
  // A user name can look like a host: `https://bank.example@evil.example`.
  const plain = (protocol === 'https:' || protocol === 'http:') && username === '' && password === '';
  return plain ? url : undefined;
}
