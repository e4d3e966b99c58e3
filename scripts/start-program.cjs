// The main file of each built program. It runs the files of the program with the bytecode that the build recorded
// (scripts/record-code-cache.mjs). Node 20 has no compile cache of its own, and compiling takes a third of the time of
// a start.
'use strict';
const { readFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { Script } = require('node:vm');
const { crc32 } = require('node:zlib');

// Node 18, 21, 22.0 and 22.1 have no `crc32`. Without this message, the error would name that function only.
if (crc32 === undefined) {
  process.stderr.write(
    `This program needs Node 20.19 or a later Node 20, or Node 22.2 or newer. This is Node ${process.versions.node} (${process.execPath}). Install one of them: https://nodejs.org\n`,
  );
  process.exit(1);
}

const CHECKSUM_BYTES = 4;

/** Replaces `import.meta.url` in every file. */
const programUrl = pathToFileURL(__filename).href;
const modules = new Map();

function load(path) {
  const known = modules.get(path);
  if (known !== undefined) return known.exports;
  // Reads a string, because a buffer of the file would stay in memory until the first garbage collection.
  const source = readFileSync(path, 'utf8');
  const script = new Script(source, { filename: path, cachedData: bytecodeOf(path, source) });
  const module = { exports: {} };
  modules.set(path, module);
  const requireFrom = (name) => (name.startsWith('.') ? load(join(dirname(path), name)) : require(name));
  script.runInThisContext()(module.exports, requireFrom, module, programUrl);
  return module.exports;
}

/**
 * Returns the recorded bytecode of a file, or undefined. V8 itself refuses bytecode of another version of V8. But V8
 * does not notice damaged bytecode, or bytecode of another source of the same length. So the checksum covers bytecode
 * and source.
 */
function bytecodeOf(path, source) {
  let file;
  try {
    file = readFileSync(`${path}.cache`);
  } catch {
    return undefined;
  }
  const bytecode = file.subarray(CHECKSUM_BYTES);
  const isWhole = file.length > CHECKSUM_BYTES && crc32(bytecode, crc32(source)) === file.readUInt32BE(0);
  return isWhole ? bytecode : undefined;
}

// The program's own script contains modules that its other scripts import. It exports them by their paths.
for (const [path, exports] of Object.entries(load(join(__dirname, ENTRY_FILE))))
  modules.set(join(__dirname, path), { exports });
