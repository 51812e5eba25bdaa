/**
 * AWS's list prices in us-east-1, in USD, without free tiers, volume tiers and savings plans, as the pages named here had them.
 * They were written down by hand and not fetched: check them before you rely on a figure to the cent.
 */
export const PRICES_AS_OF = '2025-11';

export const awsPrices = {
  /** @see https://aws.amazon.com/api-gateway/pricing/ REST APIs; a streamed response counts as a request for each 10 MB begun */
  apiGatewayRequest: 3.5e-6,
  /** @see https://aws.amazon.com/lambda/pricing/ arm64 */
  lambdaRequest: 0.2e-6,
  lambdaGbSecond: 0.0000133334,
  /** Bytes of a streamed response beyond its first 6 MB. */
  lambdaStreamedGb: 0.008,
  /** @see https://aws.amazon.com/sqs/pricing/ standard queues; a request of up to 64 KB */
  sqsRequest: 0.4e-6,
  /** @see https://aws.amazon.com/dynamodb/pricing/on-demand/ */
  dynamoDbWriteUnit: 0.625e-6,
  dynamoDbReadUnit: 0.125e-6,
  /** @see https://aws.amazon.com/cloudwatch/pricing/ logs ingested */
  logsGb: 0.5,
  /** @see https://aws.amazon.com/waf/pricing/ requests inspected */
  wafRequest: 0.6e-6,
  /** @see https://aws.amazon.com/ec2/pricing/on-demand/#Data_Transfer to the internet: to the client, and to the provider */
  transferOutGb: 0.09,
  /** @see https://aws.amazon.com/fargate/pricing/ Linux, arm64 */
  fargateVcpuHour: 0.03238,
  fargateGbHour: 0.00356,
  /** @see https://aws.amazon.com/elasticloadbalancing/pricing/ application load balancer */
  loadBalancerHour: 0.0225,
  loadBalancerCapacityUnitHour: 0.008,
  /** @see https://aws.amazon.com/vpc/pricing/ a public IPv4 address, in use or not, since 2024-02 */
  publicIpv4Hour: 0.005,
  /** @see https://aws.amazon.com/waf/pricing/ by month */
  webAclMonth: 5,
  firewallRuleMonth: 1,
  /** @see https://aws.amazon.com/cloudwatch/pricing/ by month: standard resolution; an alarm costs this for each metric it reads */
  alarmMetricMonth: 0.1,
  customMetricMonth: 0.3,
  dashboardMonth: 3,
  /** @see https://aws.amazon.com/secrets-manager/pricing/ by month */
  secretMonth: 0.4,
} as const;
