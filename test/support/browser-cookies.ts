/** Keeps the cookies of one host as a browser does: by name and path, without those that have expired. */
export class BrowserCookies {
  readonly #cookies: { name: string; value: string; path: string }[] = [];

  take(headers: Headers, requestPath: string): void {
    for (const line of headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split('; ');
      const given = new Map(attributes.map((each) => [each.split('=', 1)[0]?.toLowerCase(), each]));
      const valueOf = (attribute: string): string | undefined => given.get(attribute)?.split('=')[1];
      const name = pair.slice(0, pair.indexOf('='));
      const path = valueOf('path') ?? requestPath.replace(/\/[^/]*$/, '');
      const known = this.#cookies.findIndex((each) => each.name === name && each.path === path);
      if (known !== -1) this.#cookies.splice(known, 1);
      const expires = valueOf('expires');
      if (expires === undefined || Date.parse(expires) > 0)
        this.#cookies.push({ name, path, value: pair.slice(name.length + 1) });
    }
  }

  /** Returns the header for a request, or none. */
  sent(path: string): { cookie?: string } {
    const fitting = this.#cookies.filter(
      (each) => path === each.path || path.startsWith(`${each.path.replace(/\/$/, '')}/`),
    );
    return fitting.length === 0
      ? {}
      : { cookie: fitting.map(({ name, value }) => `${name}=${value}`).join('; ') };
  }

  copy(): BrowserCookies {
    const other = new BrowserCookies();
    other.#cookies.push(...this.#cookies);
    return other;
  }
}
