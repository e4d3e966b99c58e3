/**
 * Runs inside a program, before its own code (`--import`). A connection to the socket in `CENSUS_SOCKET` gets the
 * counts of the objects in the process. V8 finds the objects in its heap after a full collection. So every counted
 * object is reachable.
 */
import { EventEmitter, getEventListeners } from 'node:events';
import { Session } from 'node:inspector/promises';
import { createServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { CENSUS_SOCKET, found, type Counts, type Found } from '../counts.ts';

setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');

const timer = setTimeout(() => undefined, 0);
clearTimeout(timer);
const timers: object = Object.getPrototypeOf(timer);

/** The global name under which the inspector calls `countObjects`. */
const COUNT = '__countObjects';
Object.defineProperty(globalThis, COUNT, { value: countObjects });

function countObjects(objects: readonly object[]): Found {
  const all: Found = {
    functions: 0,
    promises: 0,
    listeners: 0,
    abortListeners: 0,
    timers: 0,
  };
  for (const each of objects) {
    if (typeof each === 'function') all.functions += 1;
    else if (each instanceof Promise) all.promises += 1;
    else if (each instanceof EventEmitter) all.listeners += listenersOf(each);
    else if (each instanceof AbortSignal) all.abortListeners += getEventListeners(each, 'abort').length;
    // The list of active resources omits timers that do not keep the process alive. So the census counts timers by
    // their class.
    else if (Object.prototype.isPrototypeOf.call(timers, each) && Reflect.get(each, '_destroyed') === false)
      all.timers += 1;
  }
  return all;
}

function listenersOf(emitter: EventEmitter): number {
  const names = EventEmitter.prototype.eventNames.call(emitter);
  return names.reduce((sum, name) => sum + EventEmitter.prototype.listenerCount.call(emitter, name), 0);
}

const path = process.env[CENSUS_SOCKET];
if (path === undefined) throw new Error(`${CENSUS_SOCKET} names no socket`);
// Only one census runs at a time, because a census would count another one's objects.
let last: Promise<unknown> = Promise.resolve();
createServer((socket) => {
  socket.on('error', () => undefined);
  last = last.then(async () => socket.end(JSON.stringify(await counts())));
})
  .listen(path)
  // With this call, the server does not keep the program alive.
  .unref();

async function counts(): Promise<Counts> {
  for (let round = 0; round < 4; round += 1) {
    await nextTurn();
    if (typeof collect === 'function') collect();
  }
  const heapBytes = process.memoryUsage().heapUsed;
  const handles = process.getActiveResourcesInfo().length;
  const inspector = new Session();
  inspector.connect();
  try {
    const { result: prototype } = await inspector.post('Runtime.evaluate', {
      expression: 'Object.prototype',
    });
    const prototypeObjectId = String(prototype.objectId);
    const { objects } = await inspector.post('Runtime.queryObjects', { prototypeObjectId });
    const { result } = await inspector.post('Runtime.callFunctionOn', {
      objectId: String(objects.objectId),
      functionDeclaration: `function () { return ${COUNT}(this); }`,
      returnByValue: true,
    });
    return { pid: process.pid, heapBytes, handles, ...found.parse(result.value) };
  } finally {
    // This call also releases all objects that the inspector has found.
    inspector.disconnect();
  }
}
