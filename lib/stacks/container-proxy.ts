import { Duration, Stack } from 'aws-cdk-lib';
import { type MathExpression, Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import {
  AlarmBehavior,
  AvailabilityZoneRebalancing,
  AwsLogDriverMode,
  CpuArchitecture,
  FargateService,
  FargateTaskDefinition,
  type ICluster,
  LogDrivers,
  OperatingSystemFamily,
} from 'aws-cdk-lib/aws-ecs';
import {
  ApplicationProtocol,
  ApplicationTargetGroup,
  HttpCodeElb,
  ListenerAction,
  ListenerCondition,
  TargetGroupLoadBalancingAlgorithmType,
} from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import type { IRole } from 'aws-cdk-lib/aws-iam';
import { FilterPattern, type ILogGroup, LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs';
import { LoadBalancerTarget } from 'aws-cdk-lib/aws-route53-targets';
import { Construct } from 'constructs';
import { providerLabels } from '../../lambda/domain/providers.ts';
import { containerEnvironment } from '../../lambda/environment.ts';
import type { GatewayEnvironment } from '../../lambda/gateway/environment.ts';
import type { StageSettings } from '../config.ts';
import { acknowledge } from '../constructs/acknowledge.ts';
import type { ContainerCluster } from '../constructs/container-cluster.ts';
import { variablesOf } from '../constructs/handler-function.ts';
import { metricNamespace } from '../constructs/log-line-count.ts';
import { upstreamPorts } from '../constructs/public-network.ts';
import { addHostRecord } from '../constructs/regional-domain.ts';
import { releaseAlarm } from '../constructs/runbook-alarms.ts';
import { MINUTE, share } from './metrics.ts';

const PORT = 8_080;

/**
 * How a task ends: the load balancer sends it nothing new and waits for its open requests, this long; then it gets SIGTERM, and what is
 * still open has the time until DRAIN_MS; and then SIGKILL, for which Fargate waits two minutes at most.
 *
 * @see https://docs.aws.amazon.com/AmazonECS/latest/developerguide/load-balancer-connection-draining.html
 */
const DEREGISTRATION_DELAY = Duration.minutes(15);
const STOP_TIMEOUT = Duration.seconds(120);
/** The rest of the time is for events to be delivered. */
const DRAIN_MS = 110_000;

/** Which of its load a task has while all zones are up: when one of three fails, the others take it over. */
const HEADROOM = 2 / 3;
/** Per cent of a processor with one zone down. */
const CPU_MAX_PERCENT = 90;

/** Rules are tried in this order: a provider's own before the one for all. A rule keeps its number as others come and go. */
const priorityOf = (label: string) => 1 + [...providerLabels, '*'].indexOf(label);

export interface ContainerProxyProps {
  readonly settings: StageSettings;
  /** `*`, or the label of one provider. */
  readonly label: string;
  readonly environment: GatewayEnvironment;
  readonly cluster: ContainerCluster;
}

/** One path through the gateway: host, load balancer, tasks. It serves all providers or one isolated provider. */
export class ContainerProxy extends Construct {
  readonly role: IRole;
  readonly logGroup: ILogGroup;
  readonly sizes: StageSettings['gateway']['containers'];
  readonly service: FargateService;
  /** Mean of one task. */
  readonly openRequests: Metric;
  readonly #targets: ApplicationTargetGroup;
  readonly #cluster: ContainerCluster;

  constructor(scope: Construct, id: string, { settings, label, environment, cluster }: ContainerProxyProps) {
    super(scope, id);
    this.#cluster = cluster;
    const { retention, gateway } = settings;
    this.sizes = gateway.containers;
    const logGroup = new LogGroup(this, 'Logs', { retention: retention.logs, removalPolicy: retention.data });
    this.logGroup = logGroup;

    const task = new FargateTaskDefinition(this, 'Task', {
      cpu: 1_024,
      memoryLimitMiB: gateway.containers.memoryMb,
      runtimePlatform: { cpuArchitecture: CpuArchitecture.ARM64, operatingSystemFamily: OperatingSystemFamily.LINUX },
    });
    this.role = task.taskRole;
    task.addContainer('Gateway', {
      image: cluster.image,
      environment: {
        ...environment,
        AWS_REGION: Stack.of(this).region,
        ...variablesOf(containerEnvironment, {
          PORT: String(PORT),
          DRAIN_MS: String(DRAIN_MS),
          KEEP_ALIVE_MS: String(cluster.idleTimeout.plus(Duration.seconds(15)).toMilliseconds()),
        }),
      },
      portMappings: [{ containerPort: PORT }],
      stopTimeout: STOP_TIMEOUT,
      readonlyRootFilesystem: true,
      // A write to the log never waits: Node would stand still with all its requests.
      logging: LogDrivers.awsLogs({
        logGroup: logGroup as ILogGroup,
        streamPrefix: 'gateway',
        mode: AwsLogDriverMode.NON_BLOCKING,
      }),
    });

    this.#targets = new ApplicationTargetGroup(this, 'Targets', {
      vpc: cluster.cluster.vpc,
      port: PORT,
      protocol: ApplicationProtocol.HTTP,
      // Requests last from milliseconds to many minutes: in turn, tasks would get unequal shares.
      loadBalancingAlgorithmType: TargetGroupLoadBalancingAlgorithmType.LEAST_OUTSTANDING_REQUESTS,
      deregistrationDelay: DEREGISTRATION_DELAY,
      healthCheck: {
        path: '/health',
        interval: Duration.seconds(10),
        timeout: Duration.seconds(5),
        healthyThresholdCount: 2,
        unhealthyThresholdCount: 3,
      },
    });
    cluster.listener.addAction(id, {
      priority: priorityOf(label),
      conditions: [ListenerCondition.hostHeaders([`${label}.${settings.gatewayDomain}`])],
      action: ListenerAction.forward([this.#targets]),
    });
    this.service = this.#service(
      task,
      upstreamPorts([
        ...Object.values(gateway.upstreamOrigins),
        ...Object.values(gateway.hosts.own).map(({ origin }) => origin),
      ]),
      settings.runbookUrl,
    );
    this.#targets.addTarget(this.service);

    this.openRequests = this.#countOpenRequests(settings.name, label);
    this.#scale(this.sizes);

    // The name of the record is that of a proxy on Lambda: from one to the other it is the same record with another target. A second one
    // of the same host would be refused.
    addHostRecord(new Construct(new Construct(this, 'Api'), 'Domain'), {
      domainName: `${label}.${settings.gatewayDomain}`,
      hostedZone: settings.hostedZone,
      target: new LoadBalancerTarget(cluster.loadBalancer),
      targetName: cluster.loadBalancer.loadBalancerDnsName,
      serving: this.service,
    });
    acknowledge(task, {
      ECS2: 'The variables name table, queue and secret. None of them is a secret.',
      'IAM5[Resource::*]': 'ecr:GetAuthorizationToken, with which ECS pulls the image, knows no resource.',
    });
  }

  /** Per cent of the requests that the load balancer, and not a container, ended with 502. It has no such count for one service. */
  failedShare(period: Duration): MathExpression {
    const { metrics } = this.#cluster.loadBalancer;
    return share(
      'Failed, %',
      metrics.httpCodeElb(HttpCodeElb.ELB_502_COUNT, { statistic: Stats.SUM }),
      metrics.requestCount({ statistic: Stats.SUM }),
      period,
    );
  }

  get serverErrorShare(): MathExpression {
    return share('Server errors, %', this.responses('5XX'), this.requests());
  }

  requests(label?: string): Metric {
    return this.#ofTargets('RequestCount', Stats.SUM, label);
  }

  responses(kind: '4XX' | '5XX', label?: string): Metric {
    return this.#ofTargets(`HTTPCode_Target_${kind}_Count`, Stats.SUM, label);
  }

  /** The fewest of a period. */
  get healthyTasks(): Metric {
    return this.#ofTargets('HealthyHostCount', Stats.MINIMUM);
  }

  /** CDK's own metrics take the load balancer's name out of the listener's ARN, which a weak reference cannot be split for. */
  #ofTargets(metricName: string, statistic: string, label?: string): Metric {
    return new Metric({
      namespace: 'AWS/ApplicationELB',
      metricName,
      dimensionsMap: {
        LoadBalancer: this.#cluster.loadBalancer.loadBalancerFullName,
        TargetGroup: this.#targets.targetGroupFullName,
      },
      statistic,
      ...(label !== undefined && { label }),
    });
  }

  #service(task: FargateTaskDefinition, ports: ReadonlySet<number>, runbookUrl: string): FargateService {
    const { cluster, network } = this.#cluster;
    const securityGroup = network.outboundGroup(
      this,
      'Tasks',
      'The load balancer to tasks, tasks to providers and AWS',
      ports,
    );
    const summary = 'Tasks fail during a release: it is taken back.';
    const failed = releaseAlarm(this, 'Release', summary, this.failedShare(MINUTE), runbookUrl);
    return new FargateService(this, 'Service', {
      cluster: cluster as ICluster,
      taskDefinition: task,
      assignPublicIp: true,
      securityGroups: [securityGroup],
      availabilityZoneRebalancing: AvailabilityZoneRebalancing.ENABLED,
      // A release starts as many tasks again and then ends the old ones. The number is the scaling's: a deployment must not reset it.
      minHealthyPercent: 100,
      maxHealthyPercent: 200,
      healthCheckGracePeriod: Duration.minutes(1),
      circuitBreaker: { enable: true, rollback: true },
      deploymentAlarms: { alarmNames: [failed.alarmName], behavior: AlarmBehavior.ROLLBACK_ON_ALARM },
    });
  }

  /** Every task logs its number of open requests (container/main.ts). */
  #countOpenRequests(stage: string, label: string): Metric {
    const filter = new MetricFilter(this, 'OpenRequests', {
      metricNamespace: metricNamespace(stage),
      metricName: `OpenRequests${label === '*' ? '' : `-${label}`}`,
      logGroup: this.logGroup,
      filterPattern: FilterPattern.numberValue('$.openRequests', '>=', 0),
      metricValue: '$.openRequests',
    });
    return filter.metric({ statistic: Stats.AVERAGE, period: MINUTE });
  }

  #scale({ minTasks, maxTasks, openRequestsPerTask }: StageSettings['gateway']['containers']): void {
    const tasks = this.service.autoScaleTaskCount({ minCapacity: minTasks, maxCapacity: maxTasks });
    const cooldown = { scaleOutCooldown: MINUTE, scaleInCooldown: Duration.minutes(10) };
    tasks.scaleToTrackCustomMetric('OpenRequestsScaling', {
      metric: this.openRequests,
      targetValue: Math.floor(openRequestsPerTask * HEADROOM),
      ...cooldown,
    });
    tasks.scaleOnCpuUtilization('CpuScaling', {
      targetUtilizationPercent: CPU_MAX_PERCENT * HEADROOM,
      ...cooldown,
    });
  }
}
