/**
 * What memory the gateway's function needs: the bundle under Lambda's own runtime, its peak resident memory and its processor
 * time for each kind of request. Lambda gives a share of a processor by memory (1,769 MB is one), so processor time over share is
 * the time that a size adds.
 *
 * node bench/memory.ts [--requests N]
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ask } from '../fixtures/exchange.ts';
import { startLambdaGateway } from '../fixtures/lambda-gateway/lambda-gateway.ts';
import { type Script, startScriptedOrigin } from '../fixtures/scripted-origin.ts';
import { newAccountKey } from '../lambda/domain/accounts/account-key.ts';
import { cpuSeconds } from './relay/process.ts';
import { report, rounded } from './report/figures.ts';

const { values: options } = parseArgs({ options: { requests: { type: 'string', default: '50' } } });
const requests = Number(options.requests);

const SERVICE_KEY = newAccountKey(randomBytes);

/** @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html */
const MB_PER_VCPU = 1_769;
const SIZES_MB = [256, 512, 1_024, 1_769];

const peakRssMb = (pid: number): number =>
  Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024;

const cpuMs = (pid: number): number => cpuSeconds(pid) * 1_000;

const chunk = (n: number): string =>
  `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","model":"gpt-4o","choices":[{"index":0,"delta":{"content":"word ${n}"}}]}\n\n`;
const stream =
  (chunks: number): Script =>
  (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    let sent = 0;
    const timer = setInterval(() => {
      response.write(chunk(sent));
      if (++sent < chunks) return;
      clearInterval(timer);
      response.end('data: [DONE]\n\n');
    }, 1);
  };
const bytes =
  (length: number): Script =>
  (_request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/octet-stream' });
    response.end(Buffer.alloc(length));
  };

const kinds: readonly { name: string; script: Script; count: number; bodyBytes?: number }[] = [
  { name: 'first request', script: bytes(2_000), count: 1 },
  { name: 'chat, 2 KB', script: bytes(2_000), count: requests },
  { name: 'stream, 500 chunks', script: stream(500), count: Math.ceil(requests / 10) },
  { name: 'upload, 4 MB', script: bytes(2_000), count: 5, bodyBytes: 4 * 2 ** 20 },
  { name: 'download, 50 MB', script: bytes(50 * 2 ** 20), count: 3 },
];

const origin = await startScriptedOrigin();
const lambda = await startLambdaGateway(origin.origin, { active: SERVICE_KEY });
const headers = ['Host', 'openai.gateway.test', 'X-Service-Key', SERVICE_KEY, 'Authorization', 'Bearer sk'];
const results: Record<string, number | string>[] = [
  { kind: 'start', cpuMs: cpuMs(lambda.pid), peakRssMb: Math.round(peakRssMb(lambda.pid)) },
];
for (const { name, script, count, bodyBytes } of kinds) {
  origin.script = script;
  const before = cpuMs(lambda.pid);
  for (let n = 0; n < count; n++) {
    const body = bodyBytes === undefined ? {} : { method: 'POST', body: Buffer.alloc(bodyBytes, 'x') };
    const length = bodyBytes === undefined ? [] : ['Content-Length', String(bodyBytes)];
    await ask({ port: lambda.port, path: '/v1/chat/completions', headers: [...headers, ...length], ...body });
    await lambda.idle();
  }
  const each = (cpuMs(lambda.pid) - before) / count;
  results.push({
    kind: name,
    cpuMs: rounded(each, 1),
    peakRssMb: Math.round(peakRssMb(lambda.pid)),
    ...Object.fromEntries(SIZES_MB.map((mb) => [`ms at ${mb} MB`, Math.round(each / Math.min(1, mb / MB_PER_VCPU))])),
  });
}
await lambda.stop();
await origin.close();
report('memory', { requests }, results);
