import { CfnOutput, Duration, Fn, Stack } from 'aws-cdk-lib';
import type { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import type { GatewayEnvironment } from '../../lambda/gateway/environment.ts';
import { gatewayErrorResponse } from '../../lambda/gateway/protocol/gateway-error.ts';
import { acknowledge } from '../constructs/acknowledge.ts';
import { ContainerCluster } from '../constructs/container-cluster.ts';
import { Firewall } from '../constructs/firewall.ts';
import { grantReadSecret, grantSend } from '../constructs/grants.ts';
import { countLogLines } from '../constructs/log-line-count.ts';
import { PublicNetwork } from '../constructs/public-network.ts';
import { domainOfApi } from '../constructs/regional-domain.ts';
import { grantItems } from '../constructs/table-access.ts';
import { hostGroups, usesCompute } from '../stage-settings.ts';
import { ContainerProxy } from './container-proxy.ts';
import { gatewayFirewall } from './firewall-rules.ts';
import { LOST_EVENTS } from './metrics.ts';
import { partitions } from './partitions.ts';
import { ProviderProxy } from './provider-proxy.ts';
import type { StageResources } from './resources.ts';

/** The longest silence that the gateway allows a WebSocket, and the settings a provider. The load balancer waits longer, for the gateway's own error. */
const LONGEST_SILENCE = Duration.seconds(3_900);

/**
 * The proxy, on Lambda or in containers. One function serves every provider host, and those of `gateway.isolatedProviders` have one of
 * their own: a provider that stalls holds an execution environment for each request until its time-out, and at 290 s a stall of no more than
 * 3.4 requests a second fills an account's 1,000. Isolation costs warm environments, so it is for those with the traffic.
 */
export class GatewayStack extends Stack {
  /** Those on Lambda. */
  readonly proxies: readonly ProviderProxy[];
  /** Address of a provider's host, with `{provider}` in it. */
  readonly url: string;
  readonly containerProxies: readonly ContainerProxy[];
  readonly certificate: Certificate | undefined;
  readonly #availabilityZones: readonly string[] | undefined;

  constructor(
    scope: Construct,
    id: string,
    { settings, table, usageQueue }: Pick<StageResources, 'settings' | 'table' | 'usageQueue'>,
  ) {
    super(scope, id);
    const { gateway } = settings;

    const fingerprintKey = new Secret(this, 'FingerprintKey', {
      description: 'Key of the fingerprints that split spend by provider credential',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy: settings.retention.data,
    });
    acknowledge(fingerprintKey, {
      SMG4: 'A new key gives every provider credential a new fingerprint: spend by provider key would fall apart at each rotation. It is rotated by hand if it leaks.',
    });

    new CfnOutput(this, 'FingerprintKeyArn', { value: fingerprintKey.secretArn });

    const shared = {
      settings,
      environment: {
        TABLE_NAME: table.tableName,
        USAGE_QUEUE_URL: usageQueue.queueUrl,
        GATEWAY_DOMAIN: settings.gatewayDomain,
        ALLOWED_ORIGINS: JSON.stringify(gateway.allowedOrigins),
        FINGERPRINT_SECRET_ID: fingerprintKey.secretArn,
        OPEN_EVENT_DELAY_SECONDS: String(gateway.openEventDelaySeconds),
        CONNECT_TIMEOUT_MS: String(gateway.connectTimeoutMs),
        HEADERS_TIMEOUT_MS: String(gateway.headersTimeoutMs),
        IDLE_TIMEOUT_MS: String(gateway.idleTimeoutMs),
        HOSTS: JSON.stringify(gateway.hosts),
        UPSTREAM_ORIGINS: JSON.stringify(gateway.upstreamOrigins),
        ...(settings.traces && { TRACES: 'on' }),
      } satisfies GatewayEnvironment,
    };
    const certificate = domainOfApi(this, `*.${settings.gatewayDomain}`, settings)?.certificate;
    this.certificate = certificate;
    const firewall = settings.firewall.enabled
      ? new Firewall(this, 'Firewall', { ...gatewayFirewall(settings.firewall), corsOrigins: gateway.allowedOrigins })
      : undefined;
    const idOf = (label: string) => (label === '*' ? 'Proxy' : `Proxy-${label}`);
    const groups = Object.groupBy(hostGroups(gateway), ({ compute }) => compute);
    const hasContainers = usesCompute(gateway, 'containers');
    this.#availabilityZones = gateway.availabilityZones;
    this.proxies = (groups.lambda ?? []).map(
      ({ label, ...concurrency }) =>
        new ProviderProxy(this, idOf(label), { ...shared, certificate, firewall, label, concurrency }),
    );
    // API Gateway makes or deletes one domain in 30 s; CloudFormation would ask for all at once.
    // See https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html
    for (const [index, { api }] of this.proxies.entries()) {
      const before = this.proxies[index - 1];
      if (before) api.node.addDependency(before.api);
    }
    const unknownHost = gatewayErrorResponse('UNKNOWN_PROVIDER', 'not-assigned');
    const cluster =
      certificate && hasContainers
        ? new ContainerCluster(this, 'Containers', {
            network: new PublicNetwork(this, 'Network'),
            dockerfile: 'container/Dockerfile',
            certificate,
            firewall,
            idleTimeout: LONGEST_SILENCE.plus(Duration.seconds(10)),
            unknownHost: { status: unknownHost.status, body: unknownHost.body.toString() },
          })
        : undefined;
    this.containerProxies =
      cluster === undefined
        ? []
        : (groups.containers ?? []).map(
            ({ label }) => new ContainerProxy(this, idOf(label), { ...shared, cluster, label }),
          );

    for (const { node, handler } of this.proxies)
      new CfnOutput(this, `${outputName(node.id)}FunctionName`, { value: handler.functionName });
    this.url = `https://{provider}.${settings.gatewayDomain}`;
    if (!certificate) {
      this.url = `${this.proxies[0]?.api.urlForPath('/gateway')}/{provider}`;
      new CfnOutput(this, 'Url', { value: this.url, description: 'The gateway, by provider' });
    }
    const runners = [
      ...this.proxies.map(({ node, handler }) => ({ node, grantee: handler, logGroup: handler.logGroup })),
      ...this.containerProxies.map(({ node, role, logGroup }) => ({ node, grantee: role, logGroup })),
    ];
    for (const { node, grantee, logGroup } of runners) {
      new CfnOutput(this, `${outputName(node.id)}LogGroup`, { value: logGroup.logGroupName });
      grantItems(
        grantee,
        table,
        { actions: ['GetItem'], partitions: [...partitions.blocks, ...partitions.serviceKeys] },
        { actions: ['UpdateItem', 'BatchGetItem'], partitions: partitions.blocks },
        { actions: ['PutItem'], partitions: partitions.outbox },
      );
      grantSend(grantee, usageQueue);
      grantReadSecret(grantee, fingerprintKey);
    }
    // lambda/gateway/tracking/tracker.ts writes this line when neither queue nor table took an event.
    countLogLines(
      this,
      { stage: settings.name, metricName: LOST_EVENTS },
      runners.map(({ logGroup }) => logGroup),
      'usage event not delivered',
    );
  }

  /** Those of the settings, or of the region, whichever it is: CDK would look them up in the account. us-west-1 has two, every other region three or more. */
  override get availabilityZones(): string[] {
    const count = this.region === 'us-west-1' ? 2 : 3;
    if (this.#availabilityZones) return [...this.#availabilityZones];
    return Array.from({ length: count }, (_, index) => Fn.select(index, Fn.getAzs()));
  }
}

const outputName = (id: string): string => id.replace('-', '');
