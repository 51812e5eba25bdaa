import { CfnOutput, Stack, type StackProps, Validations } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type { GatewayEnvironment } from '../../lambda/environment.ts';
import { FUNCTION_OUTPUT, type StageSettings } from '../config.ts';
import { Firewall } from '../constructs/firewall.ts';
import { grantReadSecret, grantSend } from '../constructs/grants.ts';
import { countLogLines } from '../constructs/log-line-count.ts';
import { dnsCertificate } from '../constructs/regional-domain.ts';
import { grantItems } from '../constructs/table-access.ts';
import { gatewayFirewall } from './firewall-rules.ts';
import { LOST_EVENTS } from './metrics.ts';
import { partitions } from './partitions.ts';
import { ProviderProxy } from './provider-proxy.ts';

interface GatewayStackProps extends StackProps {
  readonly settings: StageSettings;
  readonly table: ITable;
  readonly usageQueue: Queue;
}

/**
 * The proxy. One function serves every provider host, and those of `gateway.isolatedProviders` have one of their own: a
 * provider that stalls holds an execution environment for each request until its time-out, and at 600 s a stall of no more than
 * 1.7 requests a second fills an account's 1,000. Isolation costs warm environments, so it is for those with the traffic.
 */
export class GatewayStack extends Stack {
  readonly proxies: readonly ProviderProxy[];

  constructor(scope: Construct, id: string, { settings, table, usageQueue, ...props }: GatewayStackProps) {
    super(scope, id, props);
    const { gateway } = settings;

    const fingerprintKey = new Secret(this, 'FingerprintKey', {
      description: 'Key of the fingerprints that split spend by provider credential',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy: settings.retention.data,
    });
    Validations.of(fingerprintKey).acknowledge({
      id: 'AwsSolutions-SMG4',
      reason:
        'A new key gives every provider credential a new fingerprint: spend by provider key would fall apart at each rotation. It is rotated by hand if it leaks.',
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
        UPSTREAM_ORIGINS: JSON.stringify(gateway.upstreamOrigins),
      } satisfies GatewayEnvironment,
      certificate: dnsCertificate(this, 'Certificate', `*.${settings.gatewayDomain}`, settings.hostedZone),
      firewall: settings.firewall.enabled
        ? new Firewall(this, 'Firewall', gatewayFirewall(settings.firewall))
        : undefined,
    };
    this.proxies = [
      new ProviderProxy(this, 'Proxy', { ...shared, label: '*', concurrency: gateway }),
      ...Object.entries(gateway.isolatedProviders).map(
        ([label, concurrency]) => new ProviderProxy(this, `Proxy-${label}`, { ...shared, label, concurrency }),
      ),
    ];
    for (const { node, handler } of this.proxies) {
      const name = node.id.replace('-', '');
      new CfnOutput(this, `${name}LogGroup`, { value: handler.logGroup.logGroupName });
      new CfnOutput(this, `${name}${FUNCTION_OUTPUT}`, { value: handler.functionName });
      grantItems(
        handler,
        table,
        { actions: ['GetItem'], partitions: partitions.serviceKeys },
        { actions: ['PutItem'], partitions: partitions.outbox },
      );
      grantSend(handler, usageQueue);
      grantReadSecret(handler, fingerprintKey);
    }
    // lambda/gateway/tracking/tracker.ts writes this line when neither queue nor table took an event.
    countLogLines(
      this,
      { stage: settings.name, metricName: LOST_EVENTS },
      this.proxies.map(({ handler }) => handler.logGroup),
      'usage event not delivered',
    );
  }
}
