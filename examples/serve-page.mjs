// Serves client-page.html and the client library on port 8080, or on the one that is named:
//
//   a2a-server --allow-origin http://127.0.0.1:8080 &
//   node examples/serve-page.mjs 8080
import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';

const FILES = {
  '/': ['text/html; charset=utf-8', new URL('client-page.html', import.meta.url)],
  '/client.js': ['text/javascript', new URL('../dist/client/index.js', import.meta.url)],
};

const server = createServer((request, response) => {
  const [type, file] = FILES[request.url] ?? [];
  if (file === undefined) return response.writeHead(404).end();
  response.writeHead(200, { 'Content-Type': type });
  return createReadStream(file).pipe(response);
});
server.listen(Number(process.argv[2] ?? 8080), '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}/\n`);
});
