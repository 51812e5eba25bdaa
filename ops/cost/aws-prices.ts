/**
 * AWS's list prices in us-east-1, in USD, without free tiers, volume tiers and savings plans. They were written down by hand from the pages
 * named here, of 2025-11. AWS's own price list could not be reached; on 2026-11-22 they were compared with copies of it that others
 * published: `compared` has the date of each copy, `guide` means a pricing guide that is not a copy, and `not compared` that none was found.
 */
export const PRICES_AS_OF = '2025-11, compared 2026-11';

export const awsPrices = {
  /** @see https://aws.amazon.com/api-gateway/pricing/ REST APIs; a streamed response counts as a request for each 10 MB begun; guide, 2026-04 */
  apiGatewayRequest: 3.5e-6,
  /** @see https://aws.amazon.com/lambda/pricing/ arm64; compared 2026-09-11 */
  lambdaRequest: 0.2e-6,
  lambdaGbSecond: 0.0000133334,
  /** Bytes of a streamed response beyond its first 6 MB; not compared. */
  lambdaStreamedGb: 0.008,
  /** @see https://aws.amazon.com/sqs/pricing/ standard queues; a request of up to 64 KB; compared 2026-09-11 */
  sqsRequest: 0.4e-6,
  /** @see https://aws.amazon.com/dynamodb/pricing/on-demand/ compared 2026-07-30 */
  dynamoDbWriteUnit: 0.625e-6,
  dynamoDbReadUnit: 0.125e-6,
  dynamoDbGbMonth: 0.25,
  /** Point-in-time recovery, by the size of the table; guide, 2026. */
  dynamoDbRecoveryGbMonth: 0.2,
  /** @see https://aws.amazon.com/s3/pricing/ S3 Standard, its first 50 TB; not compared */
  s3GbMonth: 0.023,
  s3Read: 0.4e-6,
  /** @see https://aws.amazon.com/cloudwatch/pricing/ logs ingested; guide, 2026-04 */
  logsGb: 0.5,
  /** @see https://aws.amazon.com/waf/pricing/ requests inspected; not compared */
  wafRequest: 0.6e-6,
  /** @see https://aws.amazon.com/ec2/pricing/on-demand/#Data_Transfer to the internet: to the client, and to the provider; not compared */
  transferOutGb: 0.09,
  /** @see https://aws.amazon.com/fargate/pricing/ Linux, arm64; compared 2026-09-23 */
  fargateVcpuHour: 0.03238,
  fargateGbHour: 0.00356,
  /** @see https://aws.amazon.com/elasticloadbalancing/pricing/ application load balancer; guide, 2026-04 */
  loadBalancerHour: 0.0225,
  loadBalancerCapacityUnitHour: 0.008,
  /** @see https://aws.amazon.com/vpc/pricing/ a public IPv4 address, in use or not, since 2024-02; guide, 2026-03 */
  publicIpv4Hour: 0.005,
  /** @see https://aws.amazon.com/waf/pricing/ by month; not compared */
  webAclMonth: 5,
  firewallRuleMonth: 1,
  /** @see https://aws.amazon.com/cloudwatch/pricing/ by month: an alarm costs this for each metric it reads; compared 2026-09-11 */
  alarmMetricMonth: 0.1,
  dashboardMonth: 3,
  /** @see https://aws.amazon.com/secrets-manager/pricing/ by month; guide, 2026 */
  secretMonth: 0.4,
} as const;
