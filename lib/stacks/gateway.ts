import { Duration, Stack, type StackProps, Validations } from 'aws-cdk-lib';
import { LambdaIntegration, ResponseTransferMode } from 'aws-cdk-lib/aws-apigateway';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import type { GatewayEnvironment } from '../../lambda/environment.ts';
import type { StageSettings } from '../config.ts';
import { grantReadSecret, grantSend } from '../constructs/grants.ts';
import { HandlerFunction } from '../constructs/handler-function.ts';
import { HouseApi } from '../constructs/house-api.ts';
import { countLogLines } from '../constructs/log-line-count.ts';
import { grantItems } from '../constructs/table-access.ts';
import { gatewayFirewall } from './firewall-rules.ts';
import { partitions } from './partitions.ts';

interface GatewayStackProps extends StackProps {
  readonly settings: StageSettings;
  readonly table: Table;
  readonly usageQueue: Queue;
}

/** The longest a function may run and a streamed answer may take. @see https://docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode.html */
const LONGEST_REQUEST = Duration.minutes(15);

/** The proxy: every provider host, one API, one function. */
export class GatewayStack extends Stack {
  readonly api: HouseApi;
  readonly proxy: HandlerFunction;
  readonly lostEvents: { readonly namespace: string; readonly metricName: string };

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

    const environment = {
      TABLE_NAME: table.tableName,
      USAGE_QUEUE_URL: usageQueue.queueUrl,
      GATEWAY_DOMAIN: settings.gatewayDomain,
      FINGERPRINT_SECRET_ID: fingerprintKey.secretArn,
      OPEN_EVENT_DELAY_SECONDS: String(gateway.openEventDelaySeconds),
      CONNECT_TIMEOUT_MS: String(gateway.connectTimeoutMs),
      HEADERS_TIMEOUT_MS: String(gateway.headersTimeoutMs),
      IDLE_TIMEOUT_MS: String(gateway.idleTimeoutMs),
      UPSTREAM_ORIGINS: JSON.stringify(gateway.upstreamOrigins),
    } satisfies GatewayEnvironment;

    this.proxy = new HandlerFunction(this, 'Proxy', {
      entry: 'lambda/gateway/handler.ts',
      description: 'Streaming proxy in front of the AI providers',
      environment,
      timeout: LONGEST_REQUEST,
      memoryMb: gateway.memoryMb,
      retention: settings.retention,
      sourceMap: false,
      reservedConcurrency: gateway.reservedConcurrency,
    });
    grantItems(
      this.proxy,
      table,
      { actions: ['GetItem'], partitions: partitions.serviceKeys },
      { actions: ['PutItem'], partitions: partitions.parkedEvents },
    );
    grantSend(this.proxy, usageQueue);
    grantReadSecret(this.proxy, fingerprintKey);

    // lambda/gateway/tracker.ts writes this line when neither queue nor table took an event.
    this.lostEvents = countLogLines(this, 'LostUsageEvents', this.proxy.logGroup, 'usage event not delivered');

    const live = this.proxy.addAlias('live', {
      ...(gateway.provisionedConcurrency > 0
        ? { provisionedConcurrentExecutions: gateway.provisionedConcurrency }
        : {}),
    });

    this.api = new HouseApi(this, 'Api', {
      description: `AI spend gateway, ${settings.name}`,
      domainName: `*.${settings.gatewayDomain}`,
      hostedZone: settings.hostedZone,
      throttle: gateway.throttle,
      corsOrigins: [],
      // Every body reaches the function as its bytes: uploads are not to pass through a character set.
      binaryMediaTypes: ['*/*'],
      firewall: settings.firewall.enabled ? gatewayFirewall(settings.firewall) : undefined,
      retention: settings.retention,
    });
    // The cast: aws-cdk-lib's classes and interfaces differ under exactOptionalPropertyTypes.
    const integration = new LambdaIntegration(live as IFunction, {
      proxy: true,
      responseTransferMode: ResponseTransferMode.STREAM,
      timeout: LONGEST_REQUEST,
      allowTestInvoke: false,
    });
    this.api.root.addMethod('ANY', integration);
    this.api.root.addResource('{proxy+}').addMethod('ANY', integration);
    Validations.of(this.api).acknowledge(
      {
        id: 'AwsSolutions-APIG4',
        reason:
          'The function checks X-Service-Key itself, in the order of the specification, and passes the provider’s Authorization on: an authorizer would take that header for its own.',
      },
      {
        id: 'AwsSolutions-COG4',
        reason: 'As APIG4: clients of the proxy hold service keys, not tokens of the user pool.',
      },
    );
  }
}
