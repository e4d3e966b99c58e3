/**
 * Serves the files of the approval page. They contain no data, so they need no sign-in (X1). A GET of the page uses up
 * no code. So a sign-in link still works after a link scanner or a prefetch has opened it.
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
  // The images of a task. The page fetches them with its sign-in.
  'img-src blob:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const FILES = [
  { path: '/page', name: 'index.html', type: 'text/html; charset=utf-8' },
  { path: '/page.js', name: 'page.js', type: 'text/javascript; charset=utf-8' },
  { path: '/page.css', name: 'page.css', type: 'text/css; charset=utf-8' },
] as const;

export type Page = readonly { path: string; type: string; body: Buffer }[];

/** @throws Error if the program was built without the page */
export function readPage(directory: string): Promise<Page> {
  return Promise.all(
    FILES.map(async ({ path, name, type }) => ({ path, type, body: await readFile(join(directory, name)) })),
  );
}

export function pageRoute(page: Page): Router {
  // The page's files have relative addresses. With a final slash (`/page/`) they would be wrong.
  const router = Router({ strict: true });
  // After the redirect, a browser keeps the fragment, which may name a task.
  router.get('/', (_request, response) => response.setHeader('Cache-Control', 'no-store').redirect('page'));
  for (const { path, type, body } of page)
    router.get(path, (_request, response) => {
      response.setHeader('Content-Security-Policy', POLICY);
      response.setHeader('X-Content-Type-Options', 'nosniff');
      response.setHeader('Referrer-Policy', 'no-referrer');
      response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
      // The address of a sign-in link contains a secret, so no cache may store it. A new version of the program has new
      // files, so the browser must not keep the old files either.
      response.setHeader('Cache-Control', 'no-store');
      response.setHeader('Content-Type', type);
      response.end(body);
    });
  return router;
}
