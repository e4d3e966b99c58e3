/**
 * Loaded into a program before its own code (`--import`): whoever connects to the socket that `CENSUS_SOCKET` names is told
 * what lives in the process. The program itself knows nothing of it. Objects are found by V8's own walk over the heap,
 * which begins with a full collection: what is counted is held by something.
 */
import { EventEmitter, getEventListeners } from 'node:events';
import { Session } from 'node:inspector/promises';
import { createServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Counts } from '../census.ts';
import { CENSUS_SOCKET } from '../census-socket.ts';

setFlagsFromString('--expose-gc');
const collect: unknown = runInNewContext('gc');

/** What the inspector's expressions may name. */
const REACH = '__census';
const timer = setTimeout(() => undefined, 0);
clearTimeout(timer);
Object.defineProperty(globalThis, REACH, {
  value: {
    emitters: EventEmitter.prototype,
    signals: AbortSignal.prototype,
    timers: Object.getPrototypeOf(timer),
    functions: Function.prototype,
    promises: Promise.prototype,
    listenersOf: (emitter: EventEmitter): number =>
      EventEmitter.prototype.eventNames
        .call(emitter)
        .reduce((sum, name) => sum + EventEmitter.prototype.listenerCount.call(emitter, name), 0),
    abortListenersOf: (signal: AbortSignal): number => getEventListeners(signal, 'abort').length,
  },
});

const path = process.env[CENSUS_SOCKET];
if (path === undefined) throw new Error(`${CENSUS_SOCKET} names no socket`);
// One census at a time: the second would count what the first is made of.
let last: Promise<unknown> = Promise.resolve();
createServer((socket) => {
  socket.on('error', () => undefined);
  last = last.then(async () => socket.end(JSON.stringify(await counts())));
})
  .listen(path)
  // The program ends when it would have ended without this.
  .unref();

async function counts(): Promise<Counts> {
  for (let round = 0; round < 3; round += 1) {
    await nextTurn();
    if (typeof collect === 'function') collect();
  }
  const heapBytes = process.memoryUsage().heapUsed;
  const handles = process.getActiveResourcesInfo().length;
  const inspector = new Session();
  inspector.connect();
  const sum = async (objects: string, count: string): Promise<number> => {
    const prototype = await inspector.post('Runtime.evaluate', { expression: `${REACH}.${objects}` });
    const prototypeObjectId = String(prototype.result.objectId);
    const found = await inspector.post('Runtime.queryObjects', { prototypeObjectId });
    const { result } = await inspector.post('Runtime.callFunctionOn', {
      objectId: String(found.objects.objectId),
      functionDeclaration: `function () { return this.reduce((sum, each) => sum + ${count}, 0); }`,
      returnByValue: true,
    });
    return Number(result.value);
  };
  try {
    return {
      pid: process.pid,
      heapBytes,
      handles,
      listeners: await sum('emitters', `${REACH}.listenersOf(each)`),
      abortListeners: await sum('signals', `${REACH}.abortListenersOf(each)`),
      functions: await sum('functions', '1'),
      promises: await sum('promises', '1'),
      // Also those that keep no process alive, which the list of active resources leaves out.
      timers: await sum('timers', `(each._destroyed === false ? 1 : 0)`),
    };
  } finally {
    // Lets go of all that was found, too.
    inspector.disconnect();
  }
}
