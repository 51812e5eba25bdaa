import { once } from 'node:events';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { urlOf } from '../../fixtures/listen.ts';
import { runCommand } from '../ops/run-command.ts';

const prod = {
  account: '123456789012',
  region: 'eu-central-1',
  gatewayDomain: 'ai.acme.dev',
  dashboardDomain: 'spend.acme.dev',
  mailFrom: 'alerts@acme.dev',
  alarmMail: 'ops@acme.dev',
  registration: 'open',
};

/** What `cdk` would do, as a script: it writes its arguments. */
const CDK = `#!${process.execPath}
const fs = require('node:fs');
const args = process.argv.slice(2);
fs.writeFileSync('cdk-arguments.json', JSON.stringify(args));
if (process.env.CDK_ENDS === 'killed') process.kill(process.pid, 'SIGKILL');
process.exitCode = Number(process.env.CDK_ENDS ?? 0);
`;

const folder = tmpdir();
let aws: Server;
let quota: number | undefined;

/** Responses of services that speak XML, by action. The stack of mail has lost its identity by a change; SES has it still. */
const results: Readonly<Record<string, string>> = {
  GetCallerIdentity: `<Account>${prod.account}</Account>`,
  GetIdentityVerificationAttributes:
    '<VerificationAttributes><entry><key>acme.dev</key><value><VerificationStatus>Success</VerificationStatus></value></entry></VerificationAttributes>',
  GetSendQuota: '<Max24HourSend>50000</Max24HourSend>',
  DescribeStackResources:
    '<StackResources><member><ResourceType>AWS::SES::EmailIdentity</ResourceType><ResourceStatus>DELETE_SKIPPED</ResourceStatus></member></StackResources>',
};

const respond = (request: IncomingMessage, sent: string): [number, unknown] => {
  const action = /Action=(\w+)/.exec(sent)?.[1] ?? '';
  const result = results[action];
  if (result) return [200, `<${action}Response><${action}Result>${result}</${action}Result></${action}Response>`];
  if (request.headers['x-amz-target']?.toString().endsWith('.GetServiceQuota'))
    return quota === undefined
      ? [400, { __type: 'AccessDeniedException', Message: 'no' }]
      : [200, { Quota: { Value: quota } }];
  return [403, { __type: 'AccessDenied', Message: 'no' }];
};

beforeAll(async () => {
  writeFileSync(join(folder, 'cdk'), CDK);
  chmodSync(join(folder, 'cdk'), 0o755);
  aws = createServer(async (request, response) => {
    const [status, body] = respond(request, await text(request));
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
    response.end(typeof body === 'string' ? body : body && JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(aws, 'listening');
});
beforeEach(() => {
  quota = 1_000;
  rmSync(join(folder, 'cdk-arguments.json'), { force: true });
});
afterAll(() => {
  aws.close();
});

const deploy = (settings: object, args: readonly string[] = ['--stage', 'prod'], environment = {}) => {
  writeFileSync(join(folder, 'cdk.json'), JSON.stringify({ context: { stages: { dev: {}, prod: settings } } }));
  return runCommand({
    file: 'bin/deploy.ts',
    args,
    cwd: folder,
    env: {
      PATH: `${folder}${delimiter}${process.env['PATH']}`,
      AWS_ENDPOINT_URL: urlOf(aws),
      AWS_ACCESS_KEY_ID: 'local',
      AWS_SECRET_ACCESS_KEY: 'local',
      ...environment,
    },
  });
};
const cdkArguments = (): string[] | undefined => {
  try {
    return JSON.parse(readFileSync(join(folder, 'cdk-arguments.json'), 'utf8'));
  } catch {
    return undefined;
  }
};

describe('npm run deploy', () => {
  it('says what one may not expect, and deploys all stacks of the stage', async () => {
    quota = undefined;
    const settings = { ...prod, gateway: { reservedConcurrency: 800 } };
    const { code, stdout } = await deploy(settings, ['--stage', 'prod', '--require-approval', 'never']);
    expect(stdout).toContain("Stripe's return pages lead to https://spend.acme.dev, which is the API");
    expect(stdout).toContain('could not be read (AccessDeniedException): 1000 are needed');
    expect(cdkArguments()).toEqual([
      ...['deploy', '**', '-c', 'stage=prod', '-c', 'account=123456789012', '-c', 'region=eu-central-1'],
      ...['--require-approval', 'never'],
    ]);
    expect(code).toBe(0);
  });

  it.each([
    [['--stage=prod'], { code: 0, stderr: '' }, expect.arrayContaining(['stage=prod'])],
    [['prod'], { code: 2, stderr: expect.stringContaining('npm run deploy -- --stage prod') }, undefined],
    [['--stage', '--quiet'], { code: 2, stderr: expect.stringContaining('Name the stage') }, undefined],
  ])('deploys no other stage than the one asked for: %j', async (args, expected, passedOn) => {
    expect(await deploy(prod, args)).toMatchObject(expected);
    expect(cdkArguments()).toEqual(passedOn);
  });

  it.each([
    [['--stage', 'prod', '--dry-run'], {}],
    [['--stage', 'prod', '--dry-run=true'], {}],
    // As npm runs `npm run deploy --dry-run -- --stage prod`.
    [['--stage', 'prod'], { npm_config_dry_run: 'true' }],
  ])('deploys nothing where a dry run was asked for, which cdk would ignore: %j, %j', async (args, environment) => {
    const { code, stderr } = await deploy(prod, args, environment);
    expect(stderr).toContain("npx cdk diff '**' -c stage=prod");
    expect([code, cdkArguments()]).toEqual([2, undefined]);
  });

  it('deploys a stage without an account to that of the credentials', async () => {
    const { code } = await deploy({ ...prod, account: '', region: '' }, undefined, { AWS_REGION: 'eu-north-1' });
    expect(cdkArguments()).toEqual(expect.arrayContaining([`account=${prod.account}`, 'region=eu-north-1']));
    expect(code).toBe(0);
  });

  it('says that nobody is logged in, and takes the region of the environment all the same', async () => {
    const loggedOut = { AWS_ACCESS_KEY_ID: '', AWS_EC2_METADATA_DISABLED: 'true', AWS_REGION: 'eu-north-1' };
    const noFiles = { AWS_CONFIG_FILE: join(folder, 'none'), AWS_SHARED_CREDENTIALS_FILE: join(folder, 'none') };
    const settings = { ...prod, account: '', region: '' };
    const { code, stderr } = await deploy(settings, undefined, { ...loggedOut, ...noFiles });
    expect(stderr.trim().split('\n')).toEqual([
      'Fill in cdk.json before deploying prod:',
      'stages.prod.account: the AWS account id to deploy to',
      expect.stringContaining('there are none that AWS accepts: aws login'),
    ]);
    expect([code, cdkArguments()]).toEqual([1, undefined]);
  });

  it('asks for a region where there is none, and for no other credentials', async () => {
    const noFiles = { AWS_CONFIG_FILE: join(folder, 'none') };
    const { code, stderr } = await deploy({ ...prod, account: '', region: '' }, undefined, noFiles);
    expect(stderr.trim().split('\n')).toEqual([
      'Fill in cdk.json before deploying prod:',
      'stages.prod.region: the AWS region to deploy to, such as eu-central-1',
    ]);
    expect([code, cdkArguments()]).toEqual([1, undefined]);
  });

  it.each([
    ['3', 3],
    ['killed', 1],
  ])('fails where cdk does: %s', async (CDK_ENDS, expected) => {
    expect(await deploy(prod, undefined, { CDK_ENDS })).toMatchObject({ code: expected });
  });

  it('refuses more reserved concurrency than the account has, before it begins', async () => {
    const isolatedProviders = { openai: { reservedConcurrency: 150 } };
    const { code, stderr } = await deploy({ ...prod, gateway: { reservedConcurrency: 800, isolatedProviders } });
    expect(stderr).toContain('reserves 960 (gateway 950, recorder 10), but the account may run 1000 functions at once');
    expect([code, cdkArguments()]).toEqual([1, undefined]);
  });

  it('refuses to make an identity that SES has, and that is not in the stack any more', async () => {
    const { code, stderr } = await deploy({ ...prod, mail: { identity: 'create' } });
    expect(stderr).toContain('SES has acme.dev already, and not from this stage');
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
