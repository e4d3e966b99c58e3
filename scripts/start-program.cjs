// The main file of each built program. It runs the files of the program with the bytecode that the build recorded
// (scripts/record-code-cache.mjs). Node 20 has no compile cache of its own, and compiling takes a third of a start.
'use strict';
const { readFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { Script } = require('node:vm');
const { crc32 } = require('node:zlib');

const CHECKSUM_BYTES = 4;

/** Replaces `import.meta.url` in every file. */
const programUrl = pathToFileURL(__filename).href;
/** The functions of the modules whose files have run, by the paths of the modules. */
const functions = new Map();
const modules = new Map();

function load(path) {
  const known = modules.get(path);
  if (known !== undefined) return known.exports;
  if (!functions.has(path)) runFile(path);
  const module = { exports: {} };
  modules.set(path, module);
  const requireFrom = (name) => (name.startsWith('.') ? load(join(dirname(path), name)) : require(name));
  functions.get(path)(module.exports, requireFrom, module, programUrl);
  return module.exports;
}

/** A file is an object with the functions of its modules. Their names are relative to the file. */
function runFile(path) {
  const bytes = readFileSync(path);
  const script = new Script(bytes.toString(), { filename: path, cachedData: bytecodeOf(path, bytes) });
  for (const [name, run] of Object.entries(script.runInThisContext()))
    functions.set(join(dirname(path), name), run);
}

/**
 * V8 refuses bytecode of another version of V8, and then compiles. It does not notice damaged bytecode, nor that of another
 * source of the same length. So the checksum covers both.
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

load(join(__dirname, ENTRY_FILE));
