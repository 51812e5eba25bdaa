/**
 * Loads one bundled function as the runtime does and prints how long that took, in milliseconds of wall clock and of processor
 * time. Node's modules that the runtime has loaded by then are loaded before the clock starts.
 */
import { createRequire } from 'node:module';

const runtimeModules = ['node:fs', 'node:http', 'node:net', 'node:path', 'node:util', 'node:worker_threads'];
for (const name of runtimeModules) createRequire(import.meta.url)(name);
globalThis.awslambda = { streamifyResponse: (handler) => handler, HttpResponseStream: { from: (stream) => stream } };

const cpuBefore = process.cpuUsage();
const before = performance.now();
const module = await import(process.argv[2]);
const wallMs = performance.now() - before;
const { user, system } = process.cpuUsage(cpuBefore);
if (typeof (module.handler ?? module.default?.handler) !== 'function') throw new Error('It exports no handler.');
console.log(JSON.stringify({ wallMs, cpuMs: (user + system) / 1_000 }));
process.exit(0);
