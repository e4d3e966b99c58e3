// Runs inside a program, before its own code (`--require`). At the exit of the program, it writes the bytecode of each
// script beside the script. The bytecode then contains every function that the program has called.
'use strict';
const { writeFileSync } = require('node:fs');
const { isAbsolute } = require('node:path');
const vm = require('node:vm');
const { crc32 } = require('node:zlib');

const scripts = [];

vm.Script = class extends vm.Script {
  constructor(source, options) {
    super(source, options);
    // A program also makes scripts that are no files.
    if (isAbsolute(options.filename)) scripts.push({ script: this, source, path: options.filename });
  }
};

process.on('exit', () => {
  for (const { script, source, path } of scripts) {
    const bytecode = script.createCachedData();
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32BE(crc32(bytecode, crc32(source)));
    writeFileSync(`${path}.cache`, Buffer.concat([checksum, bytecode]));
  }
});
