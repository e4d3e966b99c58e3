// Ends a script with the reason if this Node is too old. A script imports this module first.
import zlib from 'node:zlib';

if (zlib.crc32 === undefined) {
  process.stderr.write(
    `The build needs Node 20.19 or newer, and this is Node ${process.versions.node} (${process.execPath}). Install a newer one: https://nodejs.org\n`,
  );
  process.exit(1);
}
