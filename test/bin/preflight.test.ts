import { describe, expect, it } from '@jest/globals';
import { type Account, preflight } from '../../bin/preflight.ts';
import { parseStageSettings } from '../../lib/config.ts';

const CONCURRENCY = 'L-B99A9384';
const TASKS = 'L-3032A538';

const ZONE = { id: 'Z0123456789ABCDEFGHIJ', name: 'acme.dev' };
const WEB = {
  name: 'spend.acme.dev',
  certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/0f8fad5b-d9cb-469f-a165-70867728950e',
};

const published = { hostedZone: ZONE, web: WEB, gatewayDomain: 'ai.acme.dev', dashboardDomain: 'api.acme.dev' };

/** An account that is bootstrapped and out of the sandbox, with a verified domain. */
const account = ({
  quotas = {},
  verified = ['acme.dev'],
  mailsPerDay = 50_000,
  ...others
}: {
  readonly quotas?: Readonly<Record<string, number>>;
  readonly verified?: readonly string[];
  readonly mailsPerDay?: number;
} & Partial<Omit<Account, 'mailsPerDay'>> = {}): Account => ({
  id: async () => '123456789012',
  bootstrapVersion: async () => '30',
  zoneName: async () => 'acme.dev.',
  certificate: async () => ({ status: 'ISSUED', names: ['spend.acme.dev'] }),
  resourceTypes: async () => ['AWS::SES::ConfigurationSet', 'AWS::SES::EmailIdentity'],
  quota: async ({ QuotaCode }) => quotas[QuotaCode],
  identities: async (names) =>
    Object.fromEntries(
      names.map((name) => [
        name,
        { VerificationStatus: verified.includes(name) ? ('Success' as const) : ('Pending' as const) },
      ]),
    ),
  mailsPerDay: async () => mailsPerDay,
  ...others,
});

const denied = () => Promise.reject(new Error('denied'));
const unreadable: Account = {
  id: async () => '123456789012',
  bootstrapVersion: denied,
  zoneName: denied,
  certificate: denied,
  resourceTypes: denied,
  quota: denied,
  identities: denied,
  mailsPerDay: denied,
};
const failing =
  (name: string, facts: object = {}) =>
  () =>
    Promise.reject(Object.assign(new Error(name), { name, ...facts }));

const warm = (writeUnitsPerSecond: number) => ({
  warmThroughput: { readUnitsPerSecond: 12_000, writeUnitsPerSecond },
});

const check = (settings: object, of: Account = account()) =>
  preflight(
    parseStageSettings('prod', {
      account: '123456789012',
      region: 'eu-central-1',
      mailFrom: 'alerts@acme.dev',
      ...settings,
    }),
    of,
  );

describe('a deployment is checked first', () => {
  it('and goes on where nothing is wrong', async () => {
    expect(await check({})).toEqual({ refusals: [], remarks: [] });
  });

  it('and goes on where the account cannot be read, which is said', async () => {
    const { refusals, remarks } = await check({ ...published, gateway: { compute: 'containers' } }, unreadable);
    expect(refusals).toEqual([]);
    expect(remarks).toEqual([
      expect.stringMatching(/bootstrapped could not be read/),
      expect.stringMatching(/stages\.prod\.hostedZone could not be read/),
      expect.stringMatching(/stages\.prod\.web\.certificateArn could not be read/),
      expect.stringMatching(/concurrency could not be read .*: 110 are needed/),
      expect.stringMatching(/processors of Fargate tasks could not be read .*: 6 are needed/),
      expect.stringMatching(/SES could not be asked about alerts@acme\.dev/),
    ]);
  });
});

describe('the account', () => {
  it.each([
    ['dead credentials', failing('ExpiredToken'), /^AWS does not accept the credentials \(ExpiredToken\)\. Log in/],
    ['no credentials', failing('CredentialsProviderError'), /\(CredentialsProviderError\)/],
    [
      'a region that does not exist',
      failing('TypeError', { cause: Object.assign(new Error('getaddrinfo'), { code: 'ENOTFOUND' }) }),
      /stages\.prod\.region: AWS cannot be reached in eu-central-1/,
    ],
    [
      'another account',
      async () => '999999999999',
      /of account 999999999999, and stages\.prod\.account is 123456789012/,
    ],
  ])('ends it at once with one sentence: %s', async (_, id, message) => {
    const untouched = { quota: () => Promise.reject(new Error('asked')) };
    const { refusals, remarks } = await check(published, { ...unreadable, ...untouched, id });
    expect(refusals).toEqual([expect.stringMatching(message)]);
    expect(remarks).toEqual([]);
  });

  it.each([
    [
      'was never bootstrapped',
      { bootstrapVersion: failing('ParameterNotFound') },
      /npx cdk bootstrap aws:\/\/123456789012\/eu-central-1/,
    ],
    [
      'lacks the hosted zone',
      { zoneName: failing('NoSuchHostedZone') },
      /stages\.prod\.hostedZone: the account has no zone Z0123/,
    ],
    [
      'has a zone of another name',
      { zoneName: async () => 'other.dev.' },
      /the zone Z0\w+ is other\.dev, not acme\.dev/,
    ],
    [
      'lacks the certificate',
      { certificate: failing('ResourceNotFoundException') },
      /no such certificate in us-east-1/,
    ],
    [
      'waits for the certificate',
      { certificate: async () => ({ status: 'PENDING_VALIDATION', names: [] }) },
      /the certificate is PENDING_VALIDATION/,
    ],
    [
      'has a certificate of another name',
      { certificate: async () => ({ status: 'ISSUED', names: ['*.app.acme.dev', '*.dev'] }) },
      /for \*\.app\.acme\.dev, \*\.dev, not for spend\.acme\.dev/,
    ],
  ])('refuses what would fail late: it %s', async (_, facts, message) => {
    expect((await check(published, account(facts))).refusals).toEqual([expect.stringMatching(message)]);
  });

  it('refuses a region without SES, where CloudFormation would know no kind of its resources', async () => {
    const identities = failing('Error', { code: 'ENOTFOUND' });
    const { refusals, remarks } = await check({ region: 'eu-south-2' }, account({ identities }));
    expect(refusals).toEqual([expect.stringMatching(/^stages\.prod\.region: .*SES.*eu-south-2/)]);
    expect(remarks).toEqual([]);
  });

  it('may have a certificate with a wildcard', async () => {
    const wildcard = account({ certificate: async () => ({ status: 'ISSUED', names: ['acme.dev', '*.acme.dev'] }) });
    expect(await check(published, wildcard)).toEqual({ refusals: [], remarks: [] });
  });

  it('has each identity of SES once: a second stage takes the first one', async () => {
    const create = { mail: { identity: 'create' } };
    const second = account({ resourceTypes: async () => [] });
    // The identity stayed when the setting was changed to existing.
    const former = account({ resourceTypes: async () => ['AWS::SES::ConfigurationSet'] });
    for (const without of [second, former])
      expect((await check(create, without)).refusals).toEqual([
        expect.stringMatching(/stages\.prod\.mail\.identity: SES has acme\.dev already/),
      ]);
    expect((await check(create, account())).refusals).toEqual([]);
    expect((await check({}, second)).refusals).toEqual([]);
    const fresh = account({ resourceTypes: async () => [], identities: async () => ({}) });
    expect((await check(create, fresh)).refusals).toEqual([]);
  });
});

describe('quotas', () => {
  const reserving = {
    gateway: { reservedConcurrency: 10, isolatedProviders: { openai: { reservedConcurrency: 20 } } },
  };

  const withConcurrency = (settings: object, quota: number) =>
    check(settings, account({ quotas: { [CONCURRENCY]: quota } }));

  it('leave 100 to functions without a reservation', async () => {
    expect((await withConcurrency(reserving, 140)).refusals).toEqual([]);
    expect((await withConcurrency(reserving, 139)).refusals).toEqual([
      expect.stringMatching(/reserves 40 \(gateway 30, recorder 10\).* --desired-value 140 .* reserve at most 39\.$/),
    ]);
    const warm = { gateway: { provisionedConcurrency: 200 } };
    expect((await withConcurrency(warm, 300)).refusals).toEqual([expect.stringMatching(/gateway 200, recorder 10/)]);
  });

  it('of a new account reserve nothing, and say how to begin all the same', async () => {
    const { refusals } = await withConcurrency({}, 10);
    expect(refusals).toEqual([
      expect.stringMatching(
        /may run 10 .* reserve at most 0, and set stages\.prod\.recorder\.reservesConcurrency to false/,
      ),
    ]);
  });

  it('say what they let through, where more is expected', async () => {
    const { refusals, remarks } = await withConcurrency({ recorder: { reservesConcurrency: false } }, 10);
    expect(refusals).toEqual([]);
    expect(remarks).toEqual([
      expect.stringMatching(
        /may run 10 functions at once: 5 chats of 2 seconds a second, .* 500 .* get 503\. While they hold all 10, no usage is recorded; after a day .* --desired-value 1000/,
      ),
    ]);
    expect((await withConcurrency({ expectedRequestsPerSecond: 5_000 }, 1_000)).remarks).toEqual([
      expect.stringMatching(/1000 functions at once: 450 chats of 2 seconds a second, .* --desired-value 10100/),
    ]);
    const inContainers = { gateway: { compute: 'containers' }, recorder: { reservesConcurrency: false } };
    expect((await withConcurrency(inContainers, 10)).remarks).toEqual([]);
  });

  it('of a region or a table say what they let through, where more is expected', async () => {
    const quotas = { 'L-8A5B8E43': 2_500, 'L-AB614373': 40_000 };
    const { refusals, remarks } = await check({ expectedRequestsPerSecond: 5_000 }, account({ quotas }));
    expect(refusals).toEqual([]);
    expect(remarks).toEqual([
      expect.stringMatching(
        /2500 requests of API Gateway a second in eu-central-1, and stages\.prod expects 5000\. .*--quota-code L-8A5B8E43 --desired-value 5000/,
      ),
    ]);
    const inContainers = { gateway: { compute: 'containers' }, expectedRequestsPerSecond: 5_000 };
    expect((await check(inContainers, account({ quotas }))).remarks).toEqual([]);
    const [more] = (await check({ expectedRequestsPerSecond: 2_400, table: warm(80_000) }, account({ quotas })))
      .remarks;
    expect(more).toMatch(/40000 write units of a table a second .* expects 80000/);
  });

  it('of tasks allow twice the fewest, for each group of hosts', async () => {
    const settings = { gateway: { compute: 'containers', isolatedProviders: { openai: {} } } };
    const { refusals } = await check(settings, account({ quotas: { [TASKS]: 11 } }));
    expect(refusals).toContainEqual(
      expect.stringMatching(/a release needs up to 12 processors, and the account may have 11/),
    );
    expect((await check({}, account({ quotas: { [TASKS]: 0 } }))).refusals).toEqual([]);
  });
});

describe('mail', () => {
  const create = (cognito: boolean) => ({ mail: { identity: 'create', cognito } });
  const unverified = account({ verified: [] });

  it('of Cognito waits for a second deployment: the first one makes the identity', async () => {
    const { refusals } = await check(create(true), unverified);
    expect(refusals).toEqual([
      expect.stringMatching(
        /stages\.prod\.mail\.cognito: .*Set stages\.prod\.mail\.cognito to false and deploy.*set it to true and deploy again/,
      ),
    ]);
    expect(await check(create(false), unverified)).toEqual({
      refusals: [],
      remarks: [expect.stringMatching(/Alerts are not sent until SES has verified acme\.dev/)],
    });
    expect((await check(create(true))).refusals).toEqual([]);
  });

  it('of Cognito needs a verified domain: a verified address is not enough', async () => {
    const onlyAddress = account({ verified: ['alerts@acme.dev'] });
    const refused = await check({ mail: { cognito: true } }, onlyAddress);
    expect(refused.refusals).toEqual([expect.stringMatching(/Verify acme\.dev, or set .*identity to create/)]);
    expect(await check({}, onlyAddress)).toEqual({ refusals: [], remarks: [] });
  });

  it('of alerts needs a verified sender, which is said', async () => {
    const { refusals, remarks } = await check({}, unverified);
    expect(refusals).toEqual([]);
    expect(remarks).toEqual([
      expect.stringMatching(/Alerts cannot be sent: SES has verified neither alerts@acme\.dev nor/),
    ]);
  });

  it('reaches nobody else from the sandbox, which is said', async () => {
    const { remarks } = await check({ mail: { cognito: true } }, account({ mailsPerDay: 200 }));
    expect(remarks).toEqual([
      expect.stringMatching(/sandbox: mails reach verified addresses only, and so do codes for passwords/),
    ]);
  });
});
