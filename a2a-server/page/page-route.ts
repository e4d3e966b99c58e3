/**
 * Serves the files of the approval page. X1: they contain no data, so they need no sign-in. A GET of the page does not
 * use up the code of a sign-in link. So the link still works after a link scanner or a prefetch has opened it.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Router } from 'express';

/**
 * The Content Security Policy (CSP 3): the page loads only this server's files and calls only this server. No page may
 * frame it.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  // Images are the page's icon, and the images of a task, which the page fetches with its sign-in.
  "img-src 'self' blob:",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  // Scripts can insert no markup: not with innerHTML, and not with a policy of their own (Trusted Types).
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const FILES = [
  { path: '/page', name: 'index.html', type: 'text/html; charset=utf-8' },
  { path: '/page.js', name: 'page.js', type: 'text/javascript; charset=utf-8' },
  { path: '/page.css', name: 'page.css', type: 'text/css; charset=utf-8' },
  { path: '/page.webmanifest', name: 'page.webmanifest', type: 'application/manifest+json' },
  { path: '/page-icon.svg', name: 'page-icon.svg', type: 'image/svg+xml' },
  { path: '/page-icon-192.png', name: 'page-icon-192.png', type: 'image/png' },
  { path: '/page-icon-512.png', name: 'page-icon-512.png', type: 'image/png' },
] as const;

export type PageFiles = readonly { path: string; type: string; body: Buffer }[];

/** Reads the files of the page. @throws Error if the program was built without the page */
export function readPageFiles(directory: string): Promise<PageFiles> {
  return Promise.all(
    FILES.map(async ({ path, name, type }) => ({ path, type, body: await readFile(join(directory, name)) })),
  );
}

export function pageRoute(page: PageFiles): Router {
  // `strict` means that `/page/` is not the page. The page's files have relative URLs, which would be wrong below a
  // URL with a final slash.
  const router = Router({ strict: true });
  // After the redirect, a browser keeps the fragment, which may name a task.
  router.get('/', (_request, response) => response.redirect('page'));
  for (const { path, type, body } of page)
    router.get(path, (_request, response) => {
      response.setHeader('Content-Security-Policy', POLICY);
      response.setHeader('X-Content-Type-Options', 'nosniff');
      response.setHeader('Referrer-Policy', 'no-referrer');
      response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
      response.setHeader('Content-Type', type);
      response.end(body);
    });
  return router;
}
