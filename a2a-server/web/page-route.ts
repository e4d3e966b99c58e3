/**
 * The approval page. Its three files hold nothing of anybody's, so that they need no token (X1); what the page shows, it asks
 * for with the token that the person's address brings in its fragment, which no browser sends.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Router } from 'express';

/** Nothing but this server's own files runs in it, nobody frames it, and it talks to nobody else (CSP 3). */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const FILES = [
  { path: '/', name: 'index.html', type: 'text/html; charset=utf-8' },
  { path: '/page.js', name: 'page.js', type: 'text/javascript; charset=utf-8' },
  { path: '/page.css', name: 'page.css', type: 'text/css; charset=utf-8' },
] as const;

export type Page = readonly { path: string; type: string; body: Buffer }[];

/** @throws Error when the program was built without it */
export function readPage(directory: string): Promise<Page> {
  return Promise.all(
    FILES.map(async ({ path, name, type }) => ({ path, type, body: await readFile(join(directory, name)) })),
  );
}

export function pageRoute(page: Page): Router {
  const router = Router();
  for (const { path, type, body } of page)
    router.get(path, (_request, response) => {
      response.setHeader('Content-Security-Policy', POLICY);
      response.setHeader('X-Content-Type-Options', 'nosniff');
      response.setHeader('Referrer-Policy', 'no-referrer');
      response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
      // It changes with the program only, which may be another one by the next visit.
      response.setHeader('Cache-Control', 'no-cache');
      response.setHeader('Content-Type', type);
      response.end(body);
    });
  return router;
}
