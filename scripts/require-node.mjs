// Ends a script with the reason if this version of Node does not work. A script imports this module first.
import zlib from 'node:zlib';

if (zlib.crc32 === undefined) {
  process.stderr.write(
    `The build needs Node 20.19 or a later Node 20, or Node 22.2 or newer. This is Node ${process.versions.node} (${process.execPath}). Install one of them: https://nodejs.org\n`,
  );
  process.exit(1);
}
