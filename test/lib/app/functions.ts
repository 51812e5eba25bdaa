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
    '$name runs Node 24 on arm64 with a time-out and a log group of its own',
    ({ stack, properties }) => {
      expect(properties).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Timeout: expect.any(Number),
      });
      const { LogGroup } = properties['LoggingConfig'] as { LogGroup: { Ref: string } };
      expect(resourcesOf(stage(stack), 'AWS::Logs::LogGroup')[LogGroup.Ref]?.Properties).toEqual({
        RetentionInDays: 90,
      });
    },
  );

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

it('a scheduled run that fails is not repeated, or begun late', () => {
  const configs = stackNames.flatMap((stack) =>
    Object.values(resourcesOf(stage(stack), 'AWS::Lambda::EventInvokeConfig')).map(({ Properties }) => Properties),
  );
  const rules = stackNames.flatMap((stack) => Object.values(resourcesOf(stage(stack), 'AWS::Events::Rule')));
  expect(configs).toHaveLength(rules.length);
  for (const config of configs) expect(config).toMatchObject({ MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 });
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
