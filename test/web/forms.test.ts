import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { ZodMiniType } from 'zod/mini';
import { createBudget, createPause } from '../../lambda/dashboard/limits/budget-operations.ts';
import { mergePatch } from '../../lambda/dashboard/limits/rule-changes.ts';
import { createRule } from '../../lambda/dashboard/limits/rule-operations.ts';
import { createPrice } from '../../lambda/dashboard/prices/operations.ts';
import { createReport } from '../../lambda/dashboard/reports/operations.ts';
import { MIN_PASSWORD_CHARACTERS } from '../../lambda/domain/accounts/passwords.ts';
import { ruleConditionSchema } from '../../lambda/domain/limits/rule.ts';
import { commonDimensions } from '../../lambda/domain/spend/dimensions.ts';
import { requireAsRead } from '../../lambda/http/as-read.ts';
import { problemOf } from '../../web/src/api/problem.ts';
import type { AlertRule, Budget, OwnPrice, Pause, Report } from '../../web/src/api/responses.ts';
import { changesOf, hiddenIn, replacedBy } from '../../web/src/forms/changes.ts';
import { fieldErrors, otherErrors, passwordProblem } from '../../web/src/forms/fields.ts';
import { type ChannelValues, channelProblems, channelsOf, mailOnly } from '../../web/src/limits/channels.ts';
import * as limits from '../../web/src/limits/limit-form.ts';
import { limitProblems } from '../../web/src/limits/limit-problems.ts';
import { type LimitPeriod, limitTypeList } from '../../web/src/limits/limit-types.ts';
import { refusedText } from '../../web/src/limits/names.ts';
import * as pauses from '../../web/src/limits/pause-form.ts';
import * as prices from '../../web/src/prices/price-form.ts';
import { providerName } from '../../web/src/providers/names.ts';
import * as reports from '../../web/src/reports/report-form.ts';
import { scopeValuesOf } from '../../web/src/scope/scope.ts';
import { limitSearch } from '../../web/src/search.ts';
import { limitFiltersOf } from '../../web/src/spend/filters.ts';
import { schemaArbitrary } from '../dashboard/over-http/schema-arbitrary.ts';
import { document, resolve } from '../http/described-api.ts';

type Members = Readonly<Record<string, unknown>>;

/** What the API makes of a body that its own schema describes, for each body that it takes. */
const made = ({ path, body }: { readonly path: string; readonly body?: unknown }): fc.Arbitrary<Members> => {
  const { schema } = document.paths[path].post.requestBody.content['application/json'];
  return schemaArbitrary(schema, resolve)
    .map((each) => (body as ZodMiniType<Members>).safeParse(each))
    .filter(({ success }) => success)
    .map(({ data }) => data as Members);
};

const services = ['slack', 'teams', 'pagerduty'] as const;
const target = fc.constantFrom('https://hooks.slack.com/…WXYZ', 'https://example.com/…5678');

/** Channels with the targets that they need, and some that they do not need. */
const channels = fc
  .record({
    channels: fc.uniqueArray(fc.constantFrom('email', 'webhook', ...services), { minLength: 1 }),
    webhookUrl: fc.option(target),
    targets: fc.record({ slack: target, teams: target, pagerduty: target }, { requiredKeys: [] }),
  })
  .filter(
    ({ channels: chosen, webhookUrl, targets }) =>
      (webhookUrl !== null || !chosen.includes('webhook')) &&
      services.every((name) => targets[name] !== undefined || !chosen.includes(name)),
  );

/** An item of the API, as GET shows it. */
const shown = <Item>(settings: fc.Arbitrary<Members>): fc.Arbitrary<Item> =>
  settings.map((each) => ({ ...each, id: 'id', createdAt: '2026-11-01', updatedAt: '2026-11-02' }) as Item);
const notifying = <Item>(operation: Parameters<typeof made>[0]): fc.Arbitrary<Item> =>
  shown(fc.tuple(made(operation), channels).map(([settings, those]) => ({ ...settings, ...those })));

interface Form<Item, Values> {
  readonly items: fc.Arbitrary<Item>;
  readonly valuesOf: (item: Item) => Values;
  readonly bodyOf: (values: Values) => object;
  readonly problemsOf: (values: Values) => Readonly<Record<string, string | null>>;
  readonly whole?: readonly string[];
  /** The item after a change through the API. */
  readonly changed: (item: Item, patch: Members) => Item;
  readonly maybeHidden: RegExp;
}

/** Of channels that are not chosen. */
const TARGETS = /^(webhookUrl|targets\.)/;

const merged = <Item>(item: Item, patch: Members) => mergePatch(item, patch) as Item;
const replaced = <Item extends object>(item: Item, patch: Members) =>
  Object.fromEntries(Object.entries({ ...item, ...patch }).filter(([, value]) => value !== null)) as Item;

const ruleForm: Form<AlertRule, limits.LimitValues> = {
  ...limits,
  items: notifying(createRule),
  problemsOf: limitProblems,
  whole: limits.WHOLE,
  changed: (rule, { config = {}, ...patch }) => {
    const { pause, ...members } = config as Members;
    const after = mergePatch(rule.config, members) as Members;
    const condition = { type: rule.type, config: pause === undefined ? after : { ...after, pause } };
    return { ...merged(rule, patch), ...(ruleConditionSchema.parse(condition) as Pick<AlertRule, 'type' | 'config'>) };
  },
  maybeHidden: TARGETS,
};

const isEmpty = (value: object): boolean => Object.keys(value).length === 0;

/** What the API checks of a price beyond its schema. It takes a price without any rate, which does nothing; the form asks for one. */
const isAccepted = ({ terms, from, until }: Members): boolean => {
  const { kind, ...rates } = terms as OwnPrice['terms'];
  if (kind === 'rates' && Object.values(rates).every((each) => typeof each === 'object' && isEmpty(each))) return false;
  return until === null ? kind !== 'credit' : Date.parse(until as string) > Date.parse(from as string);
};

const forms: Readonly<Record<string, Form<never, never>>> = {
  rule: ruleForm as never,
  budget: {
    ...limits,
    // The API refuses amounts by project and role of others than members and keys.
    items: notifying<Budget>(createBudget).map(({ amountByProject, amountByRole, ...budget }) =>
      ['member', 'key'].includes(budget.each ?? '') ? { ...budget, amountByProject, amountByRole } : budget,
    ),
    problemsOf: limitProblems,
    whole: limits.WHOLE,
    changed: merged,
    maybeHidden: TARGETS,
  } as Form<Budget, limits.LimitValues> as never,
  report: {
    ...reports,
    items: notifying<Report>(createReport),
    problemsOf: reports.reportProblems,
    whole: reports.WHOLE,
    changed: (report, { targets, ...patch }) => ({
      ...report,
      ...patch,
      targets: mergePatch(report.targets, targets ?? {}),
    }),
    maybeHidden: TARGETS,
  } as Form<Report, reports.ReportValues> as never,
  price: {
    ...prices,
    items: shown<OwnPrice>(
      made(createPrice)
        .filter(isAccepted)
        .map(({ from, until, ...price }) => ({
          ...price,
          from: new Date(from as string).toISOString(),
          until: until && new Date(until as string).toISOString(),
          months: [],
        })),
    ),
    problemsOf: prices.priceProblems,
    whole: prices.WHOLE,
    changed: (price, patch) => ({
      ...replaced(price, patch),
      until: patch['until'] === undefined ? price.until : patch['until'],
    }),
    // The form has days.
    maybeHidden: /^(from|until): /,
  } as Form<OwnPrice, prices.PriceValues> as never,
};

describe.each(Object.entries(forms))('a %s that the API can make', (_, form) => {
  const { items, valuesOf, bodyOf, problemsOf, whole, changed, maybeHidden } = form as unknown as Form<
    Members,
    Members
  >;
  const patchOf = (before: Members, after: Members): Members =>
    JSON.parse(JSON.stringify(changesOf(bodyOf(before), bodyOf(after), whole)));

  it('can be opened and saved, which sends nothing; another name sends that alone', () => {
    fc.assert(
      fc.property(items, (item) => {
        const values = valuesOf(item);
        expect(Object.entries(problemsOf(values)).filter(([, problem]) => problem !== null)).toEqual([]);
        expect(patchOf(values, valuesOf(structuredClone(item)))).toEqual({});
        expect(patchOf(values, { ...values, name: 'Another name' })).toEqual({ name: 'Another name' });
      }),
    );
  });

  it('becomes what the form shows, and keeps what it does not show; the API finds all that it replaces', () => {
    fc.assert(
      fc.property(items, items, (item, other) => {
        fc.pre(item['type'] === other['type']);
        const values = valuesOf(other);
        const patch = patchOf(valuesOf(item), values);
        requireAsRead(item, replacedBy(patch, item, whole));
        const after = changed(item, patch);
        expect(bodyOf(valuesOf(after))).toEqual(bodyOf(values));
      }),
    );
  });

  it('has no member that its form neither shows nor names', () => {
    fc.assert(
      fc.property(items, (item) => {
        const hidden = hiddenIn(item, bodyOf(valuesOf(item)));
        // The form takes spaces around a text off.
        const isPlain = (text: string) => !/: {2}| $/.test(text);
        expect(hidden.filter((text) => isPlain(text) && !maybeHidden.test(text))).toEqual([]);
      }),
    );
  });
});

describe('the form of a limit', () => {
  const numbers = [-1, 0, 0.0000001, 0.000001, 0.5, 1, 1.5, 99, 100, 100.5, 1000, 1001, 9_000_000, 9_000_001, ''];
  const lists = [...numbers.map(String), '1, 2, 3, 4, 5, 6, 7, 8', '1, 2, 3, 4, 5, 6, 7, 8, 9'];
  const isTakenByApi = (values: limits.LimitValues): boolean => {
    const { body } = values.type === 'budget' ? createBudget : createRule;
    return (body as ZodMiniType).safeParse(changesOf({}, limits.bodyOf(values), limits.WHOLE)).success;
  };
  const ofType = limitTypeList.flatMap(({ type, fields }) => fields.map(({ member }) => [type, member] as const));

  it.each([
    ...ofType,
    ['budget', 'countAs'] as const,
    ['budget', 'atPercent'] as const,
    ['budget', 'notifyAt'] as const,
  ])('of the type %s has the bounds of the API for %s', (type, member) => {
    const limit = { ...limits.emptyLimit(type), name: 'Limit', blocks: true, unknownCost: 'count' } as const;
    for (const typed of member === 'notifyAt' ? lists : numbers) {
      const values = { ...limit, [member]: typed };
      const isTaken = (limitProblems(values)[member] ?? null) === null;
      expect({ typed, isTaken }).toEqual({ typed, isTaken: isTakenByApi(values) });
    }
  });

  it('takes percentages as people separate them, and sends no factor for sessions, which have no history', () => {
    const bodyOf = (type: 'budget' | 'burn_rate', values: object) =>
      limits.bodyOf({ ...limits.emptyLimit(type), ...values });
    expect(bodyOf('budget', { notifyAt: '50; 80,100 %' })).toMatchObject({ notifyAt: [50, 80, 100] });
    const config = { limit: 5, factor: null, filter: null };
    expect(bodyOf('burn_rate', { each: 'session', limit: 5, factor: 3 })).toMatchObject({ config });
  });

  it.each(limitTypeList)('has the periods of the API: $type', ({ type, periods }) => {
    const all: LimitPeriod[] = ['hourly', 'daily', 'weekly', 'monthly', 'fixed'];
    const values = { ...limits.emptyLimit(type), name: 'Limit', from: '2026-11-01', to: '2026-11-02' };
    const { body } = type === 'budget' ? createBudget : createRule;
    const isTaken = (period: LimitPeriod) => {
      const sent = limits.bodyOf({ ...values, period }) as { readonly config?: object };
      const config = { ...sent.config, period };
      return (body as ZodMiniType).safeParse(changesOf({}, sent.config ? { ...sent, config } : sent)).success;
    };
    expect(periods.length > 1 ? all.filter(isTaken) : []).toEqual(periods.length > 1 ? periods : []);
  });

  it('sends amounts of groups where a limit may have some', () => {
    const values = { ...limits.emptyLimit('budget'), groupAmounts: [{ of: 'project:p', amount: 5 }] };
    expect(limits.bodyOf({ ...values, perEach: 'member' })).toMatchObject({ amountByProject: { p: 5 } });
    expect(limits.bodyOf(values)).toMatchObject({ amountByProject: null });
  });

  it('shows the message of the API at the member that it is about', () => {
    const budget = { ...limits.emptyLimit('budget'), name: 'Limit', period: 'fixed', from: '2026-11-02' } as const;
    expect(limitProblems({ ...budget, to: '2026-11-01' })).toMatchObject({ to: '`to` is before `from`' });
    expect(limitProblems({ ...budget, to: '' })).toMatchObject({ to: 'must be a date (2026-11-20)' });
    expect(limitProblems({ ...limits.emptyLimit('burn_rate'), limit: '', factor: '' })).toMatchObject({
      limit: 'needs a limit or a factor',
    });
    expect(limitProblems({ ...budget, tag: 'a', client: 'b' })['scope']).toEqual(expect.any(String));
    expect(limitProblems({ ...budget, amount: '' })).toMatchObject({ amount: 'is required' });
  });

  it('keeps everything but what a type has of its own when it becomes one of another type', () => {
    fc.assert(
      fc.property(ruleForm.items, fc.constantFrom(...limitTypeList), (rule, { type }) => {
        const values = limits.valuesOf(rule);
        const { period: _, threshold: _1, limit: _2, budget: _3, factor: _4, minimum: _5, ...common } = values;
        const { minimumRequests: _6, amount: _7, ...kept } = common;
        expect(limits.withType(values, type)).toMatchObject({ ...kept, type });
      }),
    );
  });
});

describe('what a page proposes to stop', () => {
  const filters = { tag: ['batch', 'chat'], 'dim:user': ['ada'] };

  it('is what it shows, with a declared dimension', () => {
    const search = limitSearch(limitFiltersOf(filters));
    expect(search).toEqual({ tag: 'batch', dimension: 'user', dimensionValue: 'ada' });
    const limit = { ...limits.newLimit({ ...search, type: 'budget' }), name: 'Ada', amount: 5 };
    expect(limits.bodyOf(limit)).toMatchObject({ filter: { tag: 'batch', dim: { user: 'ada' } } });
  });

  it('is never all requests: a pause of what it takes no filter for is of the key that spent most', () => {
    expect(pauses.pauseStartOf(filters, 'k')).toEqual({ tag: 'batch' });
    for (const other of [{}, { 'dim:user': ['ada'] }, { member: ['m'] }] as const)
      expect(pauses.pauseStartOf(other, 'k')).toEqual({ key: 'k' });
    expect(pauses.pauseStartOf({}, null)).toEqual({});
  });
});

describe('the form of a pause', () => {
  it('makes each pause that the API takes', () => {
    fc.assert(
      fc.property(made(createPause), ({ name, scope, minutes }) => {
        const members = Object.entries(scope as Pause['scope']).map(([member, value]) => [member, value.trim()]);
        fc.pre(members.every(([, value]) => value !== ''));
        const values = {
          ...scopeValuesOf(scope),
          name: name as string,
          minutes: minutes === null ? '' : String(minutes),
        };
        expect(Object.values(pauses.pauseProblems(values)).filter((problem) => problem !== null)).toEqual([]);
        expect(pauses.bodyOf(values)).toEqual({ name, scope: Object.fromEntries(members), minutes });
      }),
    );
  });

  it.each([
    ...pauses.scopeMembers.map((member) => [member, 'a'.repeat(1_000)] as const),
    ['minutes', '0'],
    ['minutes', '527041'],
    ['minutes', '527040'],
  ] as const)('has the bounds of the API for %s', (member, typed) => {
    const values = { ...pauses.emptyPause, tag: 'batch', name: 'Loop', [member]: typed };
    const isTaken = (pauses.pauseProblems(values)[member] ?? null) === null;
    expect(isTaken).toBe((createPause.body as ZodMiniType).safeParse(pauses.bodyOf(values)).success);
  });

  it('asks for something to pause, and for one of a key and a project', () => {
    expect(pauses.pauseProblems(pauses.emptyPause)).toMatchObject({ scope: 'must name something to pause' });
    expect(pauses.pauseProblems({ ...pauses.emptyPause, key: 'k', project: 'p' })).toMatchObject({
      scope: 'must not have both a key and a project',
    });
  });
});

describe('the form of a price', () => {
  const numbers = [-1, 0, 0.5, 100, 100.5, 1_000, 1_001, 1_000_000, 1_000_001, ''];
  const base = { ...prices.newPrice(), name: 'Price', from: '2026-11-01' } as const;
  const tiers = [
    { from: 0, percent: 1 },
    { from: 100, percent: 2 },
  ] as const;
  const isTakenByApi = (values: prices.PriceValues): boolean =>
    (createPrice.body as ZodMiniType).safeParse(changesOf({}, prices.bodyOf(values), prices.WHOLE)).success;

  it.each<[string, prices.PriceValues, (typed: number | string) => Partial<prices.PriceValues>]>([
    ['percent', { ...base, kind: 'discount' }, (percent) => ({ percent })],
    ['percent', { ...base, kind: 'markup' }, (percent) => ({ percent })],
    ['usd', { ...base, kind: 'credit', lastDay: '2026-11-30' }, (usd) => ({ usd })],
    ['usd', { ...base, kind: 'commitment' }, (usd) => ({ usd })],
    ['includedUsd', { ...base, kind: 'commitment', usd: 1 }, (includedUsd) => ({ includedUsd })],
    ['usdPerRequest', { ...base, kind: 'rates', by: 'request' }, (usdPerRequest) => ({ usdPerRequest })],
    [
      'usdPerMillionTokens.input',
      { ...base, kind: 'rates' },
      (input) => ({ usdPerMillionTokens: { input, output: 1 } }),
    ],
    ['tiers.1.percent', { ...base, kind: 'volume' }, (percent) => ({ tiers: [tiers[0], { ...tiers[1], percent }] })],
    ['tiers.1.from', { ...base, kind: 'volume' }, (from) => ({ tiers: [tiers[0], { ...tiers[1], from }] })],
    ['tiers.0.from', { ...base, kind: 'volume' }, (from) => ({ tiers: [{ ...tiers[0], from }] })],
  ])('has the bounds of the API for %s', (member, given, withTyped) => {
    for (const typed of numbers) {
      const values = { ...given, ...withTyped(typed) };
      const isTaken = (prices.priceProblems(values)[member] ?? null) === null;
      expect({ typed, isTaken }).toEqual({ typed, isTaken: isTakenByApi(values) });
    }
  });
});

it('what is left empty has no amount, and 0 is one', () => {
  const groupAmounts = ['', 0].map((amount, index) => ({ of: `role:${index}`, amount }));
  const budget = { ...limits.emptyLimit('budget'), perEach: 'member', groupAmounts };
  expect(limits.bodyOf(budget)).toMatchObject({ amountByRole: { 0: null, 1: 0 } });
  const price = { ...prices.newPrice('a'), usdPerMillionTokens: { input: 0, output: '' } };
  expect(prices.bodyOf(price).terms).toEqual({ kind: 'rates', usdPerMillionTokens: { input: 0 } });
});

it('a price may hold for one day, and no less', () => {
  const from = '2026-11-20';
  const problemAt = (lastDay: string) => prices.priceProblems({ ...prices.newPrice(), from, lastDay })['lastDay'];
  expect([from, '2026-11-19'].map(problemAt)).toEqual([null, 'Not before the first day.']);
});

it.each([
  ['terms.tiers.1.percent', 'tiers.1.percent'],
  ['terms.tiers.0.from', 'tiers.0.from'],
  ['terms.usdPerMillionTokens.input', 'usdPerMillionTokens.input'],
  ['terms.percent', 'percent'],
  ['until', 'lastDay'],
  ['terms.tiers', undefined],
])('the API’s message on %s is shown at %s, or above the form', (path, field) => {
  const values = { ...prices.newPrice(), tiers: [prices.newPrice().tiers[0], { from: 1, percent: 2 }] };
  const message = 'The request is not valid: see details.';
  const error = { error: { code: 'VALIDATION_ERROR', message, details: [{ path, message: 'must be lower' }] } };
  expect(problemOf(error).message).toBe('A value is not valid.');
  expect(fieldErrors(error, values)).toEqual(field === undefined ? {} : { [field]: 'must be lower' });
  expect(otherErrors(error, values)).toEqual(field === undefined ? [`${path} must be lower`] : []);
});

it('a password has as many characters as the API asks for', () => {
  const problems = [0, 1].map((less) => passwordProblem('x'.repeat(MIN_PASSWORD_CHARACTERS - less)));
  expect(problems).toEqual([null, 'At least 12 characters.']);
});

describe('the form of a report', () => {
  it('offers the hours of the API, takes as many groupings, and asks for one', () => {
    const isTakenByApi = (values: reports.ReportValues): boolean =>
      (createReport.body as ZodMiniType).safeParse(changesOf({}, reports.bodyOf(values), reports.WHOLE)).success;
    const base = { ...reports.emptyReport, name: 'Report' };
    const offered = reports.hours.map(({ value }) => value);
    for (const hour of Array.from({ length: 26 }, (_, index) => String(index - 1)))
      expect({ hour, isOffered: offered.includes(hour) }).toEqual({ hour, isOffered: isTakenByApi({ ...base, hour }) });
    const groupings = [...commonDimensions];
    for (const count of groupings.keys()) {
      const values = { ...base, groupBy: groupings.slice(0, count) };
      const isTaken = (reports.reportProblems(values)['groupBy'] ?? null) === null;
      expect({ count, isTaken }).toEqual({ count, isTaken: isTakenByApi(values) });
    }
  });
});

describe('what a pause refuses', () => {
  it('is named with each member of its scope', () => {
    fc.assert(
      fc.property(made(createPause), ({ scope }) => {
        const { provider, ...others } = scope as Pause['scope'];
        const text = refusedText(scope as Pause['scope'], new Map());
        for (const value of [...(provider ? [providerName(provider)] : []), ...Object.values(others)])
          expect(text).toContain(value.trim());
      }),
    );
  });
});

describe('channels', () => {
  it('are sent without the targets of those that are not chosen', () => {
    const targets = { webhookUrl: ' https://example.com/a ', slack: ' https://hooks.slack.com/a ', teams: 'https://b' };
    const sent = (channels: ChannelValues['channels']) => channelsOf({ ...mailOnly, ...targets, channels });
    const none = { slack: null, teams: null, pagerduty: null };
    expect(sent(['email'])).toEqual({ channels: ['email'], webhookUrl: null, targets: none });
    expect(sent(['webhook', 'slack'])).toEqual({
      ...{ channels: ['webhook', 'slack'], webhookUrl: 'https://example.com/a' },
      targets: { ...none, slack: 'https://hooks.slack.com/a' },
    });
  });

  it.each<[string, Partial<ChannelValues>, string[]]>([
    ['none', { channels: [] }, ['channels']],
    ['a webhook without TLS', { channels: ['webhook'], webhookUrl: 'http://example.com' }, ['webhookUrl']],
    ['a webhook without a host', { channels: ['webhook'], webhookUrl: 'https://' }, ['webhookUrl']],
    ['a webhook', { channels: ['webhook'], webhookUrl: ' https://example.com ' }, []],
    ['a service without a target', { channels: ['slack'], slack: ' ' }, ['slack']],
    ['a service', { channels: ['slack'], slack: 'https://hooks.slack.com/a' }, []],
  ])('have the problems of %s', (_, values, expected) => {
    const problems = Object.entries(channelProblems({ ...mailOnly, ...values }));
    expect(problems.flatMap(([name, problem]) => (problem === null ? [] : name))).toEqual(expected);
  });
});
