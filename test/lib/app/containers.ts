import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { parseStageSettings } from '../../../lib/config.ts';
import { hosted, onlyResource, resourcesOf, synthStage } from '../synth-stage.ts';

const onContainers = synthStage({ ...hosted, gateway: { compute: 'containers' } });
const gateway = onContainers('gateway');
/** Two providers apart: one in containers of its own, one on Lambda. */
const mixed = synthStage({
  ...hosted,
  gateway: {
    compute: 'containers',
    isolatedProviders: { openai: {}, groq: { compute: 'lambda', reservedConcurrency: 100 } },
  },
});

/** With whatever else changes a template. */
const unusual = synthStage({
  region: 'us-west-1',
  firewall: { enabled: false },
  gateway: {
    compute: 'containers',
    headersTimeoutMs: 3_600_000,
    upstreamOrigins: { openai: 'http://mock.acme.dev', groq: 'https://mock.acme.dev:8443' },
  },
})('gateway');
const onLambda = synthStage(hosted)('gateway');

const propertiesOf = (type: string) => onlyResource(gateway, type).Properties;
const attributesOf = (type: string, property: string): Record<string, string> =>
  Object.fromEntries(
    z
      .array(z.object({ Key: z.string(), Value: z.string() }))
      .parse(propertiesOf(type)[property])
      .map(({ Key, Value }) => [Key, Value]),
  );
const idOf = (type: string): string => Object.keys(resourcesOf(gateway, type))[0] ?? '';

const container = z
  .array(
    z.looseObject({
      StopTimeout: z.number(),
      Environment: z.array(z.object({ Name: z.string(), Value: z.unknown() })),
    }),
  )
  .length(1)
  .transform(([only]) => only as NonNullable<typeof only>)
  .parse(propertiesOf('AWS::ECS::TaskDefinition')['ContainerDefinitions']);
const variables = Object.fromEntries(container.Environment.map(({ Name, Value }) => [Name, Value]));

describe('a gateway in containers', () => {
  it('has nothing of Lambda or API Gateway', () => {
    for (const type of ['AWS::Lambda::Function', 'AWS::ApiGateway::RestApi', 'AWS::ApiGateway::DomainName'])
      expect(resourcesOf(gateway, type)).toEqual({});
  });

  it('has no NAT: tasks are in public subnets of three zones, and reach the table inside AWS', () => {
    expect(resourcesOf(gateway, 'AWS::EC2::NatGateway')).toEqual({});
    const subnets = Object.values(resourcesOf(gateway, 'AWS::EC2::Subnet')).map(({ Properties }) => Properties);
    expect(subnets.map(({ AvailabilityZone }) => AvailabilityZone)).toEqual(
      [0, 1, 2].map((index) => ({ 'Fn::Select': [index, { 'Fn::GetAZs': '' }] })),
    );
    for (const { MapPublicIpOnLaunch } of subnets) expect(MapPublicIpOnLaunch).toBe(true);
    expect(propertiesOf('AWS::EC2::VPCEndpoint')).toMatchObject({
      VpcEndpointType: 'Gateway',
      ServiceName: { 'Fn::Join': ['', ['com.amazonaws.', { Ref: 'AWS::Region' }, '.dynamodb']] },
    });
    // us-west-1 has two zones.
    expect(Object.keys(resourcesOf(unusual, 'AWS::EC2::Subnet'))).toHaveLength(2);
  });

  it('takes connections to tasks from the load balancer alone, and to the load balancer by TLS alone', () => {
    const groups = resourcesOf(gateway, 'AWS::EC2::SecurityGroup');
    const named = (part: string) => Object.keys(groups).find((id) => id.includes(part)) ?? '';
    const [clients, tasks] = [named('Clients'), named('Tasks')];
    expect(groups[tasks]?.Properties).not.toHaveProperty('SecurityGroupIngress');
    expect(groups[tasks]?.Properties['SecurityGroupEgress']).toEqual([
      expect.objectContaining({ FromPort: 443, ToPort: 443, IpProtocol: 'tcp' }),
    ]);
    expect(propertiesOf('AWS::EC2::SecurityGroupIngress')).toMatchObject({
      GroupId: { 'Fn::GetAtt': [tasks, 'GroupId'] },
      SourceSecurityGroupId: { 'Fn::GetAtt': [clients, 'GroupId'] },
      FromPort: 8_080,
      ToPort: 8_080,
    });
    expect(groups[clients]?.Properties['SecurityGroupIngress']).toEqual([
      expect.objectContaining({ CidrIp: '0.0.0.0/0', FromPort: 443, ToPort: 443 }),
    ]);
    expect(propertiesOf('AWS::ElasticLoadBalancingV2::Listener')).toMatchObject({
      Port: 443,
      Protocol: 'HTTPS',
      Certificates: [{ CertificateArn: { Ref: idOf('AWS::CertificateManager::Certificate') } }],
      SslPolicy: 'ELBSecurityPolicy-TLS13-1-2-2021-06',
    });
    expect(propertiesOf('AWS::CertificateManager::Certificate')['DomainName']).toBe('*.ai.acme.dev');
  });

  it('reaches a mock provider of a test stage at its port', () => {
    const tasks = Object.entries(resourcesOf(unusual, 'AWS::EC2::SecurityGroup')).find(([id]) => id.includes('Tasks'));
    const egress = z.array(z.object({ ToPort: z.number() })).parse(tasks?.[1].Properties['SecurityGroupEgress']);
    expect(egress.map(({ ToPort }) => ToPort)).toEqual([443, 80, 8_443]);
  });

  it('changes nothing of a request and waits longer than the gateway itself', () => {
    const attributes = attributesOf('AWS::ElasticLoadBalancingV2::LoadBalancer', 'LoadBalancerAttributes');
    expect(attributes).toMatchObject({
      'routing.http.preserve_host_header.enabled': 'true',
      'routing.http.xff_header_processing.mode': 'preserve',
      'waf.fail_open.enabled': 'true',
    });
    // Access logs hold paths and query strings, and those hold keys and credentials.
    expect(attributes).not.toHaveProperty('access_logs.s3.enabled', 'true');
    const idleMs = 1_000 * Number(attributes['idle_timeout.timeout_seconds']);
    for (const name of ['HEADERS_TIMEOUT_MS', 'IDLE_TIMEOUT_MS'])
      expect(idleMs).toBeGreaterThan(Number(variables[name]));
    // Otherwise the load balancer sends a request on a connection that the task is closing.
    expect(Number(variables['KEEP_ALIVE_MS'])).toBeGreaterThan(idleMs);
    // WebSockets may be silent for longer: lambda/gateway/websocket/websocket-relay.ts.
    expect(idleMs).toBeGreaterThan(3_900_000);
    // What a load balancer allows at most.
    expect(idleMs).toBeLessThanOrEqual(4_000_000);
  });

  it('lets a task end in this order: no new requests, SIGTERM, the end of what is open, SIGKILL', () => {
    const attributes = attributesOf('AWS::ElasticLoadBalancingV2::TargetGroup', 'TargetGroupAttributes');
    const drainMs = Number(variables['DRAIN_MS']);
    expect(1_000 * Number(attributes['deregistration_delay.timeout_seconds'])).toBeGreaterThan(drainMs);
    expect(1_000 * container.StopTimeout).toBeGreaterThan(drainMs);
    // Fargate's maximum.
    expect(container.StopTimeout).toBeLessThanOrEqual(120);
  });

  it('asks tasks for their health where container/main.ts responds', () => {
    expect(propertiesOf('AWS::ElasticLoadBalancingV2::TargetGroup')).toMatchObject({
      HealthCheckPath: '/health',
      Port: 8_080,
      Protocol: 'HTTP',
      TargetType: 'ip',
    });
    expect(readFileSync(join(import.meta.dirname, '../../../container/main.ts'), 'utf8')).toContain(
      "url === '/health'",
    );
    expect(variables['PORT']).toBe('8080');
  });

  it('has one image, of what the container needs and nothing else, and needs no Docker to say so', () => {
    const { Image } = container;
    expect(JSON.stringify(Image)).toMatch(/cdk-hnb659fds-container-assets-.*:[0-9a-f]{64}"/);
    const images = (stage: typeof mixed) =>
      Object.values(resourcesOf(stage('gateway'), 'AWS::ECS::TaskDefinition')).map(({ Properties }) =>
        JSON.stringify((Properties['ContainerDefinitions'] as { Image: unknown }[])[0]?.Image),
      );
    expect(new Set([...images(mixed), JSON.stringify(Image)]).size).toBe(1);
    expect(propertiesOf('AWS::ECS::TaskDefinition')).toMatchObject({
      RuntimePlatform: { CpuArchitecture: 'ARM64', OperatingSystemFamily: 'LINUX' },
    });
  });

  it('never stands still for its log, and writes to nothing else', () => {
    expect(container).toMatchObject({
      ReadonlyRootFilesystem: true,
      LogConfiguration: { LogDriver: 'awslogs', Options: { mode: 'non-blocking' } },
    });
  });

  it('leaves room for a zone that fails, and for no number of tasks but the scaling’s', () => {
    expect(propertiesOf('AWS::ECS::Service')).not.toHaveProperty('DesiredCount');
    expect(propertiesOf('AWS::ApplicationAutoScaling::ScalableTarget')).toMatchObject({
      MinCapacity: 3,
      MaxCapacity: 30,
    });
    const policies = Object.values(resourcesOf(gateway, 'AWS::ApplicationAutoScaling::ScalingPolicy')).map(
      ({ Properties }) => Properties['TargetTrackingScalingPolicyConfiguration'],
    );
    expect(policies).toEqual([
      expect.objectContaining({
        CustomizedMetricSpecification: {
          MetricName: 'OpenRequests',
          Namespace: 'AiSpendGateway/dev',
          Statistic: 'Average',
        },
        // Two thirds of 600: with one zone of three down, 600.
        TargetValue: 400,
        ScaleOutCooldown: 60,
        ScaleInCooldown: 600,
      }),
      expect.objectContaining({
        PredefinedMetricSpecification: { PredefinedMetricType: 'ECSServiceAverageCPUUtilization' },
        TargetValue: 60,
        ScaleOutCooldown: 60,
        ScaleInCooldown: 600,
      }),
    ]);
  });

  it('counts open requests from the line that each task logs', () => {
    const filters = Object.values(resourcesOf(gateway, 'AWS::Logs::MetricFilter')).map(({ Properties }) => Properties);
    expect(filters).toContainEqual(
      expect.objectContaining({
        FilterPattern: '{ $.openRequests >= 0 }',
        LogGroupName: { Ref: idOf('AWS::Logs::LogGroup') },
        MetricTransformations: [
          { MetricName: 'OpenRequests', MetricNamespace: 'AiSpendGateway/dev', MetricValue: '$.openRequests' },
        ],
      }),
    );
    // And lost events from the same log.
    expect(filters).toContainEqual(expect.objectContaining({ FilterPattern: '"usage event not delivered"' }));
  });

  it('takes a bad release back', () => {
    const alarms = Object.entries(resourcesOf(gateway, 'AWS::CloudWatch::Alarm'));
    const [release, alarm] = alarms.find(([id]) => id.includes('Release')) ?? [];
    expect(alarm?.Properties).toMatchObject({ Threshold: 5, EvaluationPeriods: 2, DatapointsToAlarm: 2 });
    expect(propertiesOf('AWS::ECS::Service')['DeploymentConfiguration']).toMatchObject({
      DeploymentCircuitBreaker: { Enable: true, Rollback: true },
      Alarms: { Enable: true, Rollback: true, AlarmNames: [{ Ref: release }] },
      MinimumHealthyPercent: 100,
      MaximumPercent: 200,
    });
  });

  it('stands behind the same firewall', () => {
    expect(propertiesOf('AWS::WAFv2::WebACLAssociation')).toMatchObject({
      ResourceArn: { Ref: idOf('AWS::ElasticLoadBalancingV2::LoadBalancer') },
    });
    expect(resourcesOf(unusual, 'AWS::WAFv2::WebACLAssociation')).toEqual({});
  });

  it('takes over the record of its hosts from Lambda, and only once it serves', () => {
    const record = onlyResource(gateway, 'AWS::Route53::RecordSet');
    // The same resource: CloudFormation makes new ones before it deletes old ones, and Route 53 refuses a second of one name.
    expect(Object.keys(resourcesOf(gateway, 'AWS::Route53::RecordSet'))).toEqual(
      Object.keys(resourcesOf(onLambda, 'AWS::Route53::RecordSet')),
    );
    expect(record.Properties).toMatchObject({ Name: '*.ai.acme.dev.', Type: 'A' });
    expect(JSON.stringify(record.Properties['AliasTarget'])).toContain(
      idOf('AWS::ElasticLoadBalancingV2::LoadBalancer'),
    );
    expect(record.DependsOn).toContain(idOf('AWS::ECS::Service'));
    const back = onlyResource(onLambda, 'AWS::Route53::RecordSet');
    expect(back.DependsOn).toContain(Object.keys(resourcesOf(onLambda, 'AWS::ApiGateway::BasePathMapping'))[0]);
    expect(JSON.stringify(unusual.findOutputs('*'))).toContain('Make *.gateway.example.com a CNAME of this');
  });

  it('shows and watches containers in place of functions', () => {
    const text = JSON.stringify(onContainers('monitoring').toJSON());
    for (const metric of [
      'OpenRequests',
      'HealthyHostCount',
      'CPUUtilization',
      'HTTPCode_Target_5XX_Count',
      'LostUsageEvents',
    ])
      expect(text).toContain(metric);
    expect(text).not.toContain('ConcurrentExecutions');
    // A weak reference, which CloudFormation does not take apart.
    expect(text).not.toContain('Fn::Split');
    const alarms = Object.values(resourcesOf(gateway, 'AWS::CloudWatch::Alarm')).map(({ Properties }) => Properties);
    const thresholds = Object.fromEntries(alarms.map(({ MetricName, Threshold }) => [MetricName, Threshold]));
    expect(thresholds).toMatchObject({
      HealthyHostCount: 3,
      OpenRequests: 600,
      CPUUtilization: 85,
      MemoryUtilization: 85,
    });
    const runbook = readFileSync(join(import.meta.dirname, '../../../docs/runbook.md'), 'utf8');
    for (const { AlarmDescription } of alarms) {
      const anchor = /#([a-z-]+)$/.exec(String(AlarmDescription))?.[1] ?? '';
      expect(runbook.toLowerCase().replaceAll(' ', '-')).toContain(`\n##-${anchor}\n`);
    }
  });
});

describe('what a task may do', () => {
  const statementsOf = (template: typeof gateway, policyName: RegExp) =>
    Object.entries(resourcesOf(template, 'AWS::IAM::Policy'))
      .filter(([id]) => policyName.test(id))
      .flatMap(([, { Properties }]) => {
        const { Statement } = Properties['PolicyDocument'] as { Statement: { Action: string | string[] }[] };
        return Statement.filter(({ Action }) => !JSON.stringify(Action).includes('logs:'));
      });

  it('is exactly what the function may', () => {
    const ofTask = statementsOf(gateway, /TaskRole/);
    expect(ofTask).toHaveLength(5);
    expect(ofTask).toEqual(statementsOf(onLambda, /^ProxyFunctionRole/));
  });

  it('shows in no variable: each has what the gateway asks for, and no secret', () => {
    const known = ['AWS_REGION', 'PORT', 'DRAIN_MS', 'KEEP_ALIVE_MS'];
    const { Variables } = onlyResource(onLambda, 'AWS::Lambda::Function').Properties['Environment'] as {
      Variables: Record<string, unknown>;
    };
    expect(variables).toEqual({ ...Variables, ...Object.fromEntries(known.map((name) => [name, variables[name]])) });
    expect(container).not.toHaveProperty('Secrets');
  });
});

describe('hosts on both', () => {
  const template = mixed('gateway');

  it('go by the host: a provider’s own rule and record before those for all', () => {
    const rules = Object.values(resourcesOf(template, 'AWS::ElasticLoadBalancingV2::ListenerRule')).map(
      ({ Properties: { Conditions, Priority } }) => {
        const [condition] = Conditions as [{ HostHeaderConfig: { Values: string[] } }];
        return { hosts: condition.HostHeaderConfig.Values, priority: Number(Priority) };
      },
    );
    const byPriority = rules.toSorted((a, b) => a.priority - b.priority).map(({ hosts }) => hosts);
    expect(byPriority).toEqual([['openai.ai.acme.dev'], ['*.ai.acme.dev']]);
    const records = Object.values(resourcesOf(template, 'AWS::Route53::RecordSet')).map(({ Properties }) => ({
      name: Properties['Name'],
      isLoadBalancer: JSON.stringify(Properties['AliasTarget']).includes('LoadBalancer'),
    }));
    expect(records).toHaveLength(3);
    expect(records).toEqual(
      expect.arrayContaining([
        { name: '*.ai.acme.dev.', isLoadBalancer: true },
        { name: 'openai.ai.acme.dev.', isLoadBalancer: true },
        { name: 'groq.ai.acme.dev.', isLoadBalancer: false },
      ]),
    );
  });

  it('share load balancer, network, certificate and firewall, and scale by themselves', () => {
    for (const type of ['AWS::ElasticLoadBalancingV2::LoadBalancer', 'AWS::EC2::VPC', 'AWS::WAFv2::WebACL'])
      expect(Object.keys(resourcesOf(template, type))).toHaveLength(1);
    expect(Object.keys(resourcesOf(template, 'AWS::WAFv2::WebACLAssociation'))).toHaveLength(2);
    expect(Object.keys(resourcesOf(template, 'AWS::ECS::Service'))).toHaveLength(2);
    expect(onlyResource(template, 'AWS::Lambda::Function').Properties['ReservedConcurrentExecutions']).toBe(100);
    const metrics = Object.values(resourcesOf(template, 'AWS::ApplicationAutoScaling::ScalingPolicy'))
      .map(({ Properties }) => JSON.stringify(Properties))
      .flatMap((text) => /"MetricName":"([\w-]+)"/.exec(text)?.[1] ?? []);
    expect(metrics.sort()).toEqual(['OpenRequests', 'OpenRequests-openai']);
  });

  it('can be one provider in containers and the rest on Lambda', () => {
    const one = synthStage({ ...hosted, gateway: { isolatedProviders: { openai: { compute: 'containers' } } } })(
      'gateway',
    );
    expect(Object.keys(resourcesOf(one, 'AWS::ECS::Service'))).toHaveLength(1);
    expect(onlyResource(one, 'AWS::ApiGateway::DomainName').Properties['DomainName']).toBe('*.ai.acme.dev');
    const { DefaultActions } = onlyResource(one, 'AWS::ElasticLoadBalancingV2::Listener').Properties;
    const [{ FixedResponseConfig: response }] = DefaultActions as [
      { FixedResponseConfig: { StatusCode: string; MessageBody: string } },
    ];
    // Of any other host, such as the load balancer's own name.
    expect(response.StatusCode).toBe('400');
    expect(JSON.parse(response.MessageBody)).toMatchObject({
      error: { code: 'UNKNOWN_PROVIDER', type: 'gateway_error' },
    });
  });
});

describe('settings of containers', () => {
  const mistakes = (gateway: object): string[] => {
    try {
      parseStageSettings('prod', { gateway });
      return [];
    } catch (error) {
      return (error as Error).message.split('\n');
    }
  };

  it('refuse what only Lambda has', () => {
    expect(mistakes({ compute: 'containers', reservedConcurrency: 5 })).toEqual([
      expect.stringContaining('stages.prod.gateway.reservedConcurrency: is of Lambda'),
    ]);
    expect(mistakes({ isolatedProviders: { openai: { compute: 'containers', provisionedConcurrency: 1 } } })).toEqual([
      expect.stringContaining('stages.prod.gateway.isolatedProviders.openai.provisionedConcurrency: is of Lambda'),
    ]);
    expect(mistakes({ compute: 'fargate' })).toEqual(["stages.prod.gateway.compute: must be 'lambda' or 'containers'"]);
  });

  it('allow longer silence only where no host is on Lambda', () => {
    expect(mistakes({ compute: 'containers', idleTimeoutMs: 900_000 })).toEqual([]);
    expect(
      mistakes({ compute: 'containers', idleTimeoutMs: 900_000, isolatedProviders: { groq: { compute: 'lambda' } } }),
    ).toEqual(['stages.prod.gateway.idleTimeoutMs: must be at most 295000 while a host is served by Lambda']);
  });

  it('have sizes that Fargate has', () => {
    expect(mistakes({ containers: { memoryMb: 1_024, minTasks: 40 } })).toEqual([
      'stages.prod.gateway.containers.memoryMb: must be 2048, 3072, 4096, 5120, 6144, 7168 or 8192',
      'stages.prod.gateway.containers.minTasks: must not exceed maxTasks, 30',
    ]);
  });
});
