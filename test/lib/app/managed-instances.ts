import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { InvalidSettings, parseStageSettings } from '../../../lib/config.ts';
import { onlyResource, resourcesOf, synthStage } from '../synth-stage.ts';

const onInstances = synthStage({ gateway: { managedInstances: {} } });
const gateway = onInstances('gateway');
/** One provider on instances, of a size of its own. */
const mixed = synthStage({
  gateway: {
    isolatedProviders: { openai: { managedInstances: true } },
    availabilityZones: ['us-east-1a', 'us-east-1b', 'us-east-1d'],
    upstreamOrigins: { openai: 'https://mock.acme.dev:8443' },
  },
})('gateway');
/** One provider on Lambda's own capacity, one in containers. */
const nextToOthers = synthStage({
  gateway: {
    managedInstances: {},
    isolatedProviders: {
      groq: { managedInstances: false, reservedConcurrency: 5 },
      openai: { compute: 'containers' },
    },
  },
})('gateway');

const propertiesOf = (type: string, template = gateway) => onlyResource(template, type).Properties;
const functionsOf = (template: typeof gateway) =>
  Object.entries(resourcesOf(template, 'AWS::Lambda::Function')).map(([id, { Properties }]) => ({ id, ...Properties }));

describe('a gateway on managed instances', () => {
  it('is a function with a processor and 2 GB in each environment, 64 requests at once, and no version of its own', () => {
    const [provider] = Object.keys(resourcesOf(gateway, 'AWS::Lambda::CapacityProvider'));
    expect(functionsOf(gateway)).toEqual([
      expect.objectContaining({
        MemorySize: 2_048,
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        CapacityProviderConfig: {
          LambdaManagedInstancesCapacityProviderConfig: {
            CapacityProviderArn: { 'Fn::GetAtt': [provider, 'Arn'] },
            PerExecutionEnvironmentMaxConcurrency: 64,
            ExecutionEnvironmentMemoryGiBPerVCpu: 2,
          },
        },
        PublishToLatestPublished: false,
        LoggingConfig: expect.objectContaining({ LogFormat: 'JSON' }),
      }),
    ]);
  });

  it('keeps an environment in each of three zones, and streams through the alias', () => {
    expect(propertiesOf('AWS::Lambda::Version')).toMatchObject({
      FunctionScalingConfig: { MinExecutionEnvironments: 3, MaxExecutionEnvironments: 30 },
    });
    expect(propertiesOf('AWS::Lambda::Alias')).toMatchObject({ Name: 'live' });
    const methods = Object.values(resourcesOf(gateway, 'AWS::ApiGateway::Method'));
    for (const { Properties } of methods)
      expect(Properties['Integration']).toMatchObject({ ResponseTransferMode: 'STREAM' });
    expect(methods).toHaveLength(2);
  });

  it('bounds what instances cost: their number of processors, and their types', () => {
    expect(propertiesOf('AWS::Lambda::CapacityProvider')).toMatchObject({
      CapacityProviderScalingConfig: { MaxVCpuCount: 400 },
      InstanceRequirements: {
        Architectures: ['arm64'],
        AllowedInstanceTypes: ['c6g.large', 'c6g.xlarge', 'c7g.large', 'c7g.xlarge', 'c8g.large', 'c8g.xlarge'],
      },
    });
  });

  it('has no NAT: instances are in public subnets and take no connections', () => {
    expect(resourcesOf(gateway, 'AWS::EC2::NatGateway')).toEqual({});
    const { VpcConfig } = propertiesOf('AWS::Lambda::CapacityProvider');
    const subnets = Object.keys(resourcesOf(gateway, 'AWS::EC2::Subnet'));
    expect(VpcConfig).toMatchObject({ SubnetIds: subnets.map((Ref) => ({ Ref })) });
    for (const { Properties } of Object.values(resourcesOf(gateway, 'AWS::EC2::Subnet')))
      expect(Properties['MapPublicIpOnLaunch']).toBe(true);
    expect(propertiesOf('AWS::EC2::SecurityGroup')).not.toHaveProperty('SecurityGroupIngress');
    expect(resourcesOf(gateway, 'AWS::EC2::SecurityGroupIngress')).toEqual({});
    expect(propertiesOf('AWS::EC2::SecurityGroup')['SecurityGroupEgress']).toEqual([
      expect.objectContaining({ IpProtocol: 'tcp', FromPort: 443, ToPort: 443 }),
    ]);
    expect(propertiesOf('AWS::EC2::VPCEndpoint')).toMatchObject({ VpcEndpointType: 'Gateway' });
  });

  it('lets Lambda operate instances for this account alone', () => {
    const [operator] = Object.entries(resourcesOf(gateway, 'AWS::IAM::Role')).filter(([id]) => id.includes('Operator'));
    expect(operator?.[1].Properties['AssumeRolePolicyDocument']).toMatchObject({
      Statement: [{ Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } } }],
    });
  });

  it('has the rights of the function on Lambda’s own capacity', () => {
    const rightsOf = (template: typeof gateway) =>
      Object.entries(resourcesOf(template, 'AWS::IAM::Policy'))
        .filter(([id]) => id.startsWith('Proxy'))
        .map(([, { Properties }]) =>
          JSON.stringify(Properties['PolicyDocument']).replaceAll('ManagedFunction', 'Function'),
        )
        .map((text) => text.replace(/(FunctionLogs)[0-9A-F]{8}/g, '$1'));
    expect(rightsOf(gateway)).toEqual(rightsOf(synthStage({})('gateway')));
    expect(rightsOf(gateway)).toHaveLength(1);
  });
});

describe('a provider on managed instances', () => {
  it('is a function of its own next to those on Lambda’s capacity', () => {
    const functions = functionsOf(mixed);
    expect(functions.map((each) => ['CapacityProviderConfig' in each, each.id.includes('Managed')])).toEqual([
      [false, false],
      [true, true],
    ]);
  });

  it('is in the zones of the settings, and reaches a mock provider at its port', () => {
    const zones = Object.values(resourcesOf(mixed, 'AWS::EC2::Subnet')).map(
      ({ Properties }) => Properties['AvailabilityZone'],
    );
    expect(zones).toEqual(['us-east-1a', 'us-east-1b', 'us-east-1d']);
    const egress = z
      .array(z.object({ ToPort: z.number() }))
      .parse(propertiesOf('AWS::EC2::SecurityGroup', mixed)['SecurityGroupEgress']);
    expect(egress.map(({ ToPort }) => ToPort)).toEqual([443, 8_443]);
  });

  it('may stay on Lambda’s capacity where the others are on instances', () => {
    expect(functionsOf(nextToOthers).map((each) => 'CapacityProviderConfig' in each)).toEqual([true, false]);
  });
});

describe('containers next to managed instances', () => {
  it('are in the same network', () => {
    expect(Object.keys(resourcesOf(nextToOthers, 'AWS::EC2::VPC'))).toHaveLength(1);
  });
});

describe('settings of managed instances', () => {
  it.each([
    [
      { managedInstances: {}, reservedConcurrency: 5 },
      /reservedConcurrency: is of Lambda's own capacity, and \* runs on managed/,
    ],
    [
      { managedInstances: {}, isolatedProviders: { openai: { provisionedConcurrency: 5 } } },
      /isolatedProviders\.openai\.provisionedConcurrency: is of Lambda's own capacity/,
    ],
    [{ managedInstances: { requestsPerEnvironment: 65 } }, /requestsPerEnvironment: must be at most 64/],
    [{ managedInstances: { memoryMb: 3_000 } }, /memoryMb: must be 2048 or a multiple/],
    [{ managedInstances: { minEnvironments: 31 } }, /minEnvironments: must not exceed maxEnvironments, 30/],
    [{ managedInstances: {}, headersTimeoutMs: 600_000 }, /headersTimeoutMs: must be at most 295000/],
    [{ availabilityZones: ['us-east-1a'] }, /availabilityZones: must be at least two/],
  ])('refuse %j', (settings, message) => {
    expect(() => parseStageSettings('prod', { gateway: settings })).toThrow(InvalidSettings);
    expect(() => parseStageSettings('prod', { gateway: settings })).toThrow(message);
  });
});
