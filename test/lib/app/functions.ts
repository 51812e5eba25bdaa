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
