import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

const prod = {
  account: '123456789012',
  region: 'eu-central-1',
  gatewayDomain: 'ai.acme.dev',
  dashboardDomain: 'spend.acme.dev',
  mailFrom: 'alerts@acme.dev',
  alarmMail: 'ops@acme.dev',
  registration: 'open',
};

/** What `cdk` would do, as a script: it writes its arguments and the outputs of the stacks. */
const CDK = `#!${process.execPath}
const fs = require('node:fs');
const args = process.argv.slice(2);
fs.writeFileSync('cdk-arguments.json', JSON.stringify(args));
const outputs = { 'ai-spend-prod-gateway': { ProxyFunctionName: 'proxy', ProxyLogGroup: 'logs' }, 'ai-spend-prod-data': { TableName: 't' } };
fs.writeFileSync(args[args.indexOf('--outputs-file') + 1], JSON.stringify(outputs));
`;

let folder: string;
let aws: Server;
let quota: number | undefined;
/** Versions of the function `proxy`; the alias points at the last but one. */
let versions: number[];
/** Of the function's versions: where they run. */
const deleted: string[] = [];

const respond = (request: IncomingMessage): [number, unknown] => {
  const url = new URL(request.url ?? '', 'http://aws');
  if (request.headers['x-amz-target']?.toString().endsWith('.GetServiceQuota'))
    return quota === undefined
      ? [400, { __type: 'AccessDeniedException', Message: 'no' }]
      : [200, { Quota: { Value: quota } }];
  if (url.pathname.endsWith('/aliases/live')) return [200, { FunctionVersion: String(versions.at(-2)) }];
  if (url.pathname.endsWith('/functions/proxy/versions'))
    return [200, { Versions: ['$LATEST', ...versions].map((version) => ({ Version: String(version) })) }];
  if (request.method === 'DELETE') {
    deleted.push(url.searchParams.get('Qualifier') ?? '');
    return [204, undefined];
  }
  return [403, { __type: 'AccessDenied', Message: 'no' }];
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'deploy-'));
  writeFileSync(join(folder, 'cdk'), CDK);
  chmodSync(join(folder, 'cdk'), 0o755);
  aws = createServer((request, response) => {
    const [status, body] = respond(request);
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(body && JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(aws, 'listening');
});
beforeEach(() => {
  quota = 1_000;
  versions = [1];
  deleted.length = 0;
  rmSync(join(folder, 'cdk-arguments.json'), { force: true });
});
afterAll(() => {
  aws.close();
  rmSync(folder, { recursive: true });
});

const deploy = async (settings: object, args: readonly string[] = ['--stage', 'prod'], environment = {}) => {
  writeFileSync(join(folder, 'cdk.json'), JSON.stringify({ context: { stages: { dev: {}, prod: settings } } }));
  const endpoint = `http://127.0.0.1:${(aws.address() as AddressInfo).port}`;
  const child = spawn(process.execPath, [join(process.cwd(), 'bin/deploy.ts'), ...args], {
    cwd: folder,
    env: {
      PATH: `${folder}${delimiter}${process.env['PATH']}`,
      AWS_ENDPOINT_URL: endpoint,
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      ...environment,
    },
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, stdout, stderr };
};
const cdkArguments = (): string[] | undefined => {
  try {
    return JSON.parse(readFileSync(join(folder, 'cdk-arguments.json'), 'utf8'));
  } catch {
    return undefined;
  }
};

describe('npm run deploy', () => {
  it('says what one may not expect, deploys all stacks of the stage, and deletes old versions', async () => {
    versions = Array.from({ length: 10 }, (_, index) => index + 1);
    quota = undefined;
    const settings = { ...prod, gateway: { reservedConcurrency: 800 } };
    const { code, stdout } = await deploy(settings, ['--stage', 'prod', '--require-approval', 'never']);
    expect(stdout).toContain("Stripe's return pages lead to https://spend.acme.dev, which is the API");
    expect(stdout).toContain('could not be read (AccessDeniedException): 1000 are needed');
    expect(cdkArguments()).toEqual([
      ...['deploy', '**', '-c', 'stage=prod', '-c', 'deploy=true', '--outputs-file', expect.any(String)],
      ...['--require-approval', 'never'],
    ]);
    // None that the alias points at, and not the five before.
    expect(deleted).toEqual(['4', '3', '2', '1']);
    expect(stdout).toContain('Deleted 4 old versions');
    expect(code).toBe(0);
  });

  it('refuses more reserved concurrency than the account has, before it begins', async () => {
    const isolatedProviders = { openai: { reservedConcurrency: 150 } };
    const { code, stderr } = await deploy({ ...prod, gateway: { reservedConcurrency: 800, isolatedProviders } });
    expect(stderr).toContain('reserves 960 (gateway 950, recorder 10), but the account may run 1000 functions at once');
    expect([code, cdkArguments()]).toEqual([1, undefined]);
  });

  it('refuses containers where nothing builds their image', async () => {
    const containers = { ...prod, gateway: { compute: 'containers' } };
    const docker = { CDK_DOCKER: join(folder, 'docker') };
    const { code, stderr } = await deploy(containers, undefined, docker);
    expect(stderr).toContain(
      `stages.prod.gateway.compute: the image of the containers is built here, and there is no ${folder}/docker`,
    );
    expect([code, cdkArguments()]).toEqual([1, undefined]);
    writeFileSync(join(folder, 'docker'), '#!/bin/sh\n');
    chmodSync(join(folder, 'docker'), 0o755);
    expect(await deploy(containers, undefined, docker)).toMatchObject({ code: 0, stderr: '' });
  });

  it('refuses settings that do not suffice, before it begins', async () => {
    const { code, stderr } = await deploy({ ...prod, gatewayDomain: '' });
    expect(stderr).toContain('stages.prod.gatewayDomain');
    expect([code, cdkArguments()]).toEqual([1, undefined]);
  });
});
