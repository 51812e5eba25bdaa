import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { inContainers, resourcesOf, stacks, stripped, synthStage, withoutDomains, withSignOn } from '../synth-stage.ts';

type Stage = ReturnType<typeof synthStage>;

const outputSchema = z.record(
  z.string(),
  z.object({ Value: z.unknown(), Export: z.object({ Name: z.string() }).optional() }),
);

/** The exports of a stack by name. */
const exportsOf = (stage: Stage, stack: (typeof stacks)[number]): Map<string, unknown> =>
  new Map(
    Object.values(outputSchema.parse(stage(stack).toJSON()['Outputs'] ?? {})).flatMap(({ Value, Export }) =>
      Export === undefined ? [] : [[Export.Name, Value] as const],
    ),
  );

const importsOf = (stage: Stage, stack: (typeof stacks)[number]): string[] =>
  [...JSON.stringify(stage(stack).toJSON()).matchAll(/"Fn::ImportValue":"([^"]+)"/g)].map(([, name = '']) => name);

/**
 * What CloudFormation would refuse when a stage goes from one synthesis to another, stack by stack in the order of a deployment: the
 * deletion of an export, or another value for it, while a stack that is not updated yet imports it.
 */
const refusals = (before: Stage, after: Stage): string[] =>
  stacks.flatMap((stack, index) => {
    const next = exportsOf(after, stack);
    const changed = [...exportsOf(before, stack)]
      .filter(([name, value]) => JSON.stringify(next.get(name)) !== JSON.stringify(value))
      .map(([name]) => name);
    const stillBefore = stacks.slice(index + 1).flatMap((later) => importsOf(before, later));
    return changed.filter((name) => stillBefore.includes(name)).map((name) => `${stack}: ${name} is in use`);
  });

describe('an update of a stage', () => {
  const plain = synthStage();
  const isolated = synthStage({ gateway: { isolatedProviders: { openai: { reservedConcurrency: 300 } } } });

  it('deploys stacks in this order, each after all that it imports from', () => {
    const known = new Set<string>();
    for (const stack of stacks) {
      for (const name of importsOf(isolated, stack))
        expect([stack, name, known.has(name)]).toEqual([stack, name, true]);
      for (const name of exportsOf(isolated, stack).keys()) known.add(name);
    }
  });

  it.each([
    ['a provider gets its own function', plain, isolated],
    ['a provider loses its own function', isolated, plain],
    ['containers take over', plain, synthStage(inContainers)],
    ['Lambda takes over', synthStage(inContainers), plain],
    ['the firewall goes and releases switch at once', plain, synthStage(stripped)],
    ['a restored table takes over', plain, synthStage({ restoredTable: 'spend-restored' })],
    ['single sign-on goes', synthStage(withSignOn), plain],
    ['a stage with pages gets domains', synthStage({ ...withoutDomains, web: undefined }), plain],
    ['a restored table is given up', synthStage({ restoredTable: 'spend-restored' }), plain],
  ])('is not refused when %s', (_, before, after) => {
    expect(refusals(before, after)).toEqual([]);
  });

  it('never waits for an import of what may be renamed or removed: only these are exported', () => {
    const exported = stacks.flatMap((stack) => {
      const resources = z
        .record(z.string(), z.object({ Type: z.string() }))
        .parse(isolated(stack).toJSON()['Resources']);
      return [...exportsOf(isolated, stack).values()].map((value) => {
        const [, id = ''] = /^\{"(?:Ref|Fn::GetAtt)":\[?"(\w+)"/.exec(JSON.stringify(value)) ?? [];
        return resources[id]?.Type;
      });
    });
    expect([...new Set(exported)].sort()).toEqual([
      'AWS::Cognito::UserPool',
      'AWS::Cognito::UserPoolClient',
      'AWS::DynamoDB::Table',
      'AWS::S3::Bucket',
      'AWS::SES::ConfigurationSet',
      'AWS::SNS::Topic',
      'AWS::SQS::Queue',
      'AWS::SecretsManager::Secret',
    ]);
  });
});

describe('stages next to each other', () => {
  const names = (text: string): string[] =>
    [...text.matchAll(/"(?:Namespace|MetricNamespace|POWERTOOLS_METRICS_NAMESPACE)":"(AiSpendGateway[^"]*)"/g)].map(
      ([, name = '']) => name,
    );

  it('of one account share no metric', () => {
    const text = stacks.map((stack) => JSON.stringify(synthStage()(stack).toJSON()).replaceAll('\\"', '"')).join('');
    expect(new Set(names(text))).toEqual(new Set(['AiSpendGateway/dev']));
    expect(text).not.toContain('AiSpendGateway"');
  });

  it('and in several regions have names of their own where the account has one list of them', () => {
    const web = synthStage()('web');
    const name = { 'Fn::Join': ['', ['ai-spend-dev-', { Ref: 'AWS::Region' }]] };
    web.hasResourceProperties('AWS::CloudFront::ResponseHeadersPolicy', {
      ResponseHeadersPolicyConfig: { Name: name },
    });
    web.hasResourceProperties('AWS::CloudFront::OriginAccessControl', { OriginAccessControlConfig: { Name: name } });
    web.hasResourceProperties('AWS::CloudFront::Function', { Name: name });
  });

  it('leave no bucket behind that cannot be deleted', () => {
    expect(Object.keys(resourcesOf(synthStage(stripped)('web'), 'Custom::S3AutoDeleteObjects'))).toHaveLength(1);
    expect(Object.keys(resourcesOf(synthStage()('web'), 'Custom::S3AutoDeleteObjects'))).toEqual([]);
  });
});
