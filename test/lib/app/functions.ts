import { describe, expect, it } from '@jest/globals';
import { resourcesOf, stackNames, synthStage } from '../synth-stage.ts';

const stage = synthStage();
const functions = stackNames.flatMap((stack) =>
  Object.entries(resourcesOf(stage(stack), 'AWS::Lambda::Function')).map(([id, { Properties }]) => ({
    name: `${stack}/${id}`,
    stack,
    properties: Properties,
  })),
);

describe('every function', () => {
  it.each(functions)(
    '$name runs Node 24 on arm64 with a log group of its own, which outlives it',
    ({ stack, properties }) => {
      expect(properties).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
      });
      const { LogGroup } = properties['LoggingConfig'] as { LogGroup: { Ref: string } };
      expect(resourcesOf(stage(stack), 'AWS::Logs::LogGroup')[LogGroup.Ref]).toMatchObject({
        Properties: { RetentionInDays: 90 },
        DeletionPolicy: 'RetainExceptOnCreate',
      });
    },
  );

  it('has this time-out and memory', () => {
    const byBounds = Map.groupBy(
      functions,
      ({ properties }) => `${properties['Timeout']} s, ${properties['MemorySize']} MB`,
    );
    const names = [...byBounds].map(([bounds, some]) => [
      bounds,
      some.map(({ name }) => name.replace(/^.*\/|.{8}$/g, '')).join(' '),
    ]);
    expect(Object.fromEntries(names)).toEqual({
      '29 s, 512 MB': 'IdentityHandler SettingsHandler FilesHandler BillingHandler StripeWebhookHandler',
      '30 s, 256 MB': 'Feedback',
      '50 s, 1024 MB': 'Sweep AccountJobs',
      '60 s, 1024 MB': 'Recorder',
      '120 s, 1024 MB': 'RuleWorker',
      '180 s, 1769 MB': 'PriceFeed',
      '240 s, 1024 MB': 'OwnPrices',
      '300 s, 512 MB': 'RuleEvaluator ReadingHandler MachineHandler',
      '840 s, 1024 MB': 'Repricing',
      '900 s, 512 MB': 'ProxyFunction Reconcile',
      '900 s, 1024 MB': 'Rollup',
      '900 s, 3008 MB': 'Exporter',
    });
  });

  it('waits with the deletion of an account for its last open event, and for caches', () => {
    const variables = functions.map(
      ({ properties }) => (properties['Environment'] as { Variables: Record<string, string> }).Variables,
    );
    const [lastEvent] = variables.flatMap(({ OPEN_EVENT_DELAY_SECONDS = [] }) => OPEN_EVENT_DELAY_SECONDS);
    const [pause] = variables.flatMap(({ DELETION_PAUSE_SECONDS = [] }) => DELETION_PAUSE_SECONDS);
    expect(Number(pause)).toBeGreaterThan(Number(lastEvent) + 60);
  });

  it.each(functions)('$name has no secret among its variables', ({ properties }) => {
    const { Variables } = properties['Environment'] as { Variables: Record<string, unknown> };
    for (const [name, value] of Object.entries(Variables)) {
      expect(JSON.stringify(value)).not.toMatch(/resolve:secretsmanager|resolve:ssm|SecretString/);
      // A name that speaks of a secret may hold where it is, or how the names of secrets begin, never a text of its own.
      if (name === 'BILL_SECRET_PREFIX') expect(value).toBe('ai-spend-dev/bills/');
      else if (/SECRET|PASSWORD|TOKEN|CREDENTIAL|API_KEY/.test(name)) expect(typeof value).not.toBe('string');
    }
  });
});

it('a scheduled run that fails is not repeated, and waits for concurrency until the next at most', () => {
  const configs = stackNames.flatMap((stack) =>
    Object.values(resourcesOf(stage(stack), 'AWS::Lambda::EventInvokeConfig')).map(({ Properties }) => Properties),
  );
  const rules = stackNames.flatMap((stack) => Object.values(resourcesOf(stage(stack), 'AWS::Events::Rule')));
  expect(configs).toHaveLength(rules.length);
  for (const config of configs) expect(config).toMatchObject({ MaximumRetryAttempts: 0 });
  const waits = rules.map(({ Properties }, n) => [
    Properties['ScheduleExpression'],
    configs[n]?.['MaximumEventAgeInSeconds'],
  ]);
  expect(Object.fromEntries(waits)).toEqual({
    'rate(1 minute)': 60,
    'rate(5 minutes)': 300,
    'rate(15 minutes)': 900,
    'rate(20 minutes)': 1_200,
    'rate(1 hour)': 3_600,
    // Lambda takes no more.
    'rate(1 day)': 21_600,
  });
});

it('nobody may register where no setting says who', () => {
  const values = functions.flatMap(({ properties }) => {
    const { Variables } = properties['Environment'] as { Variables: Record<string, unknown> };
    return Variables['REGISTRATION'] ?? [];
  });
  expect([...new Set(values)]).toEqual(['closed']);
});

describe('traces', () => {
  const tracingIn = (settings: object) => {
    const traced = synthStage(settings);
    const of = (type: string) =>
      stackNames.flatMap((stack) =>
        Object.values(resourcesOf(traced(stack), type)).map(({ Properties }) => Properties),
      );
    return {
      functions: new Set(of('AWS::Lambda::Function').map(({ TracingConfig }) => JSON.stringify(TracingConfig))),
      apis: new Set(of('AWS::ApiGateway::Stage').map(({ TracingEnabled }) => TracingEnabled)),
      policies: JSON.stringify(of('AWS::IAM::Policy')).split('xray:PutTraceSegments').length - 1,
      variables: JSON.stringify(of('AWS::Lambda::Function')).split('"TRACES":"on"').length - 1,
    };
  };

  it('are of no request unless the settings say so, and then of all functions and APIs', () => {
    expect(tracingIn({})).toEqual({
      functions: new Set([undefined]),
      apis: new Set([undefined]),
      policies: 0,
      variables: 0,
    });
    const { policies, ...traced } = tracingIn({ traces: true });
    expect(traced).toEqual({ functions: new Set(['{"Mode":"Active"}']), apis: new Set([true]), variables: 1 });
    expect(policies).toBe(
      stackNames.flatMap((name) => Object.keys(resourcesOf(stage(name), 'AWS::Lambda::Function'))).length,
    );
  });
});
