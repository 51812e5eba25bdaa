import { describe, expect, it } from '@jest/globals';
import { type Account, preflight } from '../../bin/preflight.ts';
import { parseStageSettings } from '../../lib/config.ts';

const CONCURRENCY = 'L-B99A9384';
const TASKS = 'L-3032A538';

/** An account that is out of the sandbox, with a verified domain. */
const account = ({
  quotas = {},
  verified = ['acme.dev'],
  mailsPerDay = 50_000,
}: {
  readonly quotas?: Readonly<Record<string, number>>;
  readonly verified?: readonly string[];
  readonly mailsPerDay?: number;
} = {}): Account => ({
  quota: async ({ QuotaCode }) => quotas[QuotaCode],
  identities: async (names) =>
    Object.fromEntries(
      names.map((name) => [
        name,
        { VerificationStatus: verified.includes(name) ? ('Success' as const) : ('Pending' as const) },
      ]),
    ),
  mailsPerDay: async () => mailsPerDay,
});

const unreadable: Account = {
  quota: () => Promise.reject(new Error('denied')),
  identities: () => Promise.reject(new Error('denied')),
  mailsPerDay: () => Promise.reject(new Error('denied')),
};

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
    const { refusals, remarks } = await check({ gateway: { compute: 'containers' } }, unreadable);
    expect(refusals).toEqual([]);
    expect(remarks).toEqual([
      expect.stringMatching(/processors of Fargate tasks could not be read .*: 6 are needed/),
      expect.stringMatching(/SES could not be asked about alerts@acme\.dev/),
    ]);
  });
});

describe('quotas', () => {
  const reserving = {
    gateway: { reservedConcurrency: 10, isolatedProviders: { openai: { reservedConcurrency: 20 } } },
  };

  it('leave 100 to functions without a reservation', async () => {
    const refusal = async (quota: number) =>
      (await check(reserving, account({ quotas: { [CONCURRENCY]: quota } }))).refusals;
    expect(await refusal(130)).toEqual([]);
    expect(await refusal(129)).toEqual([
      expect.stringMatching(/30 in all, .* Reserve at most 29, .* --desired-value 130/),
    ]);
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
