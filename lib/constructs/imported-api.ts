import { Size, Stack } from 'aws-cdk-lib';
import {
  AccessLogFormat,
  ApiDefinition,
  type CfnRestApi,
  EndpointType,
  LogGroupLogDestination,
  MethodLoggingLevel,
  SpecRestApi,
} from 'aws-cdk-lib/aws-apigateway';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Retention } from '../config.ts';
import { acknowledge } from './acknowledge.ts';
import { type ApiBodyProps, apiBody } from './api-body.ts';
import type { Firewall } from './firewall.ts';
import { RegionalDomain, type RegionalDomainProps } from './regional-domain.ts';

export interface ImportedApiProps extends Omit<ApiBodyProps, 'title' | 'hasOwnAddress'> {
  /** Metrics are filed under it: unique in account and region. */
  readonly name: string;
  /** Undefined: API Gateway's own address serves. */
  readonly domain: Pick<RegionalDomainProps, 'domainName' | 'certificate' | 'hostedZone'> | undefined;
  /** Responses of this size or more are compressed for clients that take it; undefined: none is. Streamed ones never are. */
  readonly compressedFromBytes?: number;
  readonly throttle: { readonly ratePerSecond: number; readonly burst: number };
  /** None where the stage goes without. */
  readonly firewall: Firewall | undefined;
  readonly retention: Retention;
}

/** One line of JSON a request. No path, no query string, no header and no body is in it: credentials travel in all four. */
const ACCESS_LOG_FORMAT = AccessLogFormat.custom(
  JSON.stringify({
    requestId: '$context.requestId',
    requestTime: '$context.requestTime',
    domainName: '$context.domainName',
    httpMethod: '$context.httpMethod',
    resourcePath: '$context.resourcePath',
    protocol: '$context.protocol',
    status: '$context.status',
    sourceIp: '$context.identity.sourceIp',
    responseLength: '$context.responseLength',
    responseLatencyMs: '$context.responseLatency',
    integrationStatus: '$context.integration.integrationStatus',
    integrationLatencyMs: '$context.integration.latency',
    integrationRequestId: '$context.integration.requestId',
    errorResponseType: '$context.error.responseType',
    wafStatus: '$context.waf.status',
    traceId: '$context.xrayTraceId',
  }),
);

/**
 * A regional REST API behind its own domain, if the stage has any: access logs without secrets, our errors also where API Gateway responds
 * itself, a limit on the rate, and no second way in by the execute-api host. It is imported from one definition, and so is one resource however many routes it has.
 */
export class ImportedApi extends SpecRestApi {
  /** Origin of API Gateway's own address, which serves where there is no domain. */
  readonly ownOrigin: string;

  constructor(scope: Construct, id: string, props: ImportedApiProps) {
    const accessLogs = new LogGroup(scope, `${id}AccessLogs`, {
      retention: props.retention.logs,
      removalPolicy: props.retention.data,
    });
    super(scope, id, {
      restApiName: props.name,
      apiDefinition: ApiDefinition.fromInline(
        apiBody({ ...props, title: props.name, hasOwnAddress: props.domain === undefined }, Stack.of(scope)),
      ),
      endpointTypes: [EndpointType.REGIONAL],
      // An import takes its own word for it.
      parameters: { endpointConfigurationTypes: EndpointType.REGIONAL },
      ...(props.compressedFromBytes !== undefined && { minCompressionSize: Size.bytes(props.compressedFromBytes) }),
      disableExecuteApiEndpoint: props.domain !== undefined,
      // One for all: lib/stacks/data.ts.
      cloudWatchRole: false,
      deployOptions: {
        stageName: 'live',
        throttlingRateLimit: props.throttle.ratePerSecond,
        throttlingBurstLimit: props.throttle.burst,
        // Metrics of each method cost by the month; those of the API, which alarms and dashboard read, are free.
        metricsEnabled: false,
        loggingLevel: MethodLoggingLevel.OFF,
        dataTraceEnabled: false,
        accessLogDestination: new LogGroupLogDestination(accessLogs),
        accessLogFormat: ACCESS_LOG_FORMAT,
      },
    });
    const { region, urlSuffix } = this.stack;
    this.ownOrigin = `https://${this.restApiId}.execute-api.${region}.${urlSuffix}`;
    // An API of its own: after an import into the former one, CloudFormation would delete the methods that had been resources.
    const api = this.node.defaultChild as CfnRestApi;
    api.overrideLogicalId(`${this.stack.getLogicalId(api)}Imported`);
    for (const [index, handler] of [...new Set(props.routes.map((route) => route.handler))].entries())
      handler.addPermission(`Api${index}`, {
        principal: new ServicePrincipal('apigateway.amazonaws.com'),
        scope: this,
        sourceArn: this.arnForExecuteApi('*', '/*', this.deploymentStage.stageName),
      });
    if (props.domain) new RegionalDomain(this, 'Domain', { api: this, ...props.domain });
    if (props.firewall === undefined) {
      acknowledge(this, { APIG3: 'The settings of this stage say firewall.enabled false.' });
    } else {
      props.firewall.protect(this, this.deploymentStage.stageArn);
    }
    acknowledge(this, {
      APIG6:
        'Execution logs hold headers and query strings, which carry credentials of our clients and of their providers. The access log has status, latency and error type of every request.',
      APIG2:
        'Handlers parse every body with a zod schema and respond with the one error shape; a proxied body is the provider’s to judge.',
    });
  }
}
