import { DAY_SECONDS } from '../../lambda/domain/calendar/units.ts';
import { awsPrices } from './aws-prices.ts';

/** Shape of a request. */
export interface Traffic {
  readonly name: string;
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** From the request's arrival to the response's last byte. */
  readonly durationMs: number;
  /** Processor time in a process that has served some requests before: bench/lambda.ts measures it; this is its upper end. */
  readonly processorMs: number;
}

/** USD by component. */
export type Cost = Readonly<Record<string, number>>;

const MB = 2 ** 20;
const GB = 2 ** 30;

const API_GATEWAY_CHUNK_BYTES = 10 * MB;
const FREE_STREAMED_BYTES = 6 * MB;
/** After the last byte of the response the close event goes to the queue; this time is billed, too. */
const CLOSE_EVENT_MS = 20;
/** An open and a close event, each sent by itself. */
const EVENTS = 2;
/** The event source receives and deletes ten messages at a time. */
const QUEUE_REQUESTS_TO_CONSUME = 2 / 10;
/** A record of up to 1 KB, in a transaction, and its share of the counters: bench/recorder.ts, batches of 100 of five accounts. */
export const WRITE_UNITS = 2 + 2;
/** The open event looks for its record; the account look-up is mostly cached, and counted as if it were not. */
const READ_UNITS = 0.5 + 0.5;
/** A hundred events a second of the recorder, which has 1 GB: cautious, since a batch mostly waits for the table. */
const RECORDER_GB_SECONDS_PER_EVENT = 0.01;
/** Access log, the platform's report, a share of the recorder's metrics. */
const LOG_BYTES = 1_000;

const perMillion = (costs: Record<string, number>): Cost =>
  Object.fromEntries(Object.entries(costs).map(([name, usd]) => [name, usd * 1e6]));

export const totalOf = (cost: Cost): number => Object.values(cost).reduce((sum, usd) => sum + usd, 0);

/** The exporter's time for a record, in processor time of one thread: bench/exports.ts measures it. */
const EXPORT_MS = 0.29;
const MOVE_MS = 0.24;
/** lib/stacks/exports.ts */
const EXPORTER_GB = 3_008 / 1_024;
/** A record is a quarter of what a unit reads, or half of that where the read need not be consistent. */
const EXPORT_READ_UNITS = 1 / 8;
/** Read consistently to write the file, and its key to delete it. */
const MOVE_READ_UNITS = 1 / 4 + 1 / 8;
const MOVE_WRITE_UNITS = 1;
/** A block is read back; parts of files are so few that they do not count. */
const MOVE_OBJECT_READS = 1 / 500;
const exporterUsd = (ms: number): number => (ms / 1_000) * EXPORTER_GB * awsPrices.lambdaGbSecond;

/** USD for each record that leaves the table. */
export const movedRecordUsd =
  exporterUsd(MOVE_MS) +
  MOVE_READ_UNITS * awsPrices.dynamoDbReadUnit +
  MOVE_WRITE_UNITS * awsPrices.dynamoDbWriteUnit +
  MOVE_OBJECT_READS * awsPrices.s3Read;

const tracking = {
  queue: (EVENTS + EVENTS * QUEUE_REQUESTS_TO_CONSUME) * awsPrices.sqsRequest,
  recorder:
    EVENTS * RECORDER_GB_SECONDS_PER_EVENT * awsPrices.lambdaGbSecond + (EVENTS / 100) * awsPrices.lambdaRequest,
  table: WRITE_UNITS * awsPrices.dynamoDbWriteUnit + READ_UNITS * awsPrices.dynamoDbReadUnit,
  export: exporterUsd(EXPORT_MS) + EXPORT_READ_UNITS * awsPrices.dynamoDbReadUnit,
};

const transferOut = ({ requestBytes, responseBytes }: Traffic) =>
  ((requestBytes + responseBytes) / GB) * awsPrices.transferOutGb;

const streamed = ({ responseBytes }: Traffic) =>
  (Math.max(0, responseBytes - FREE_STREAMED_BYTES) / GB) * awsPrices.lambdaStreamedGb;

/** USD for a million tracked requests on Lambda, by component. @param memoryMb of the gateway's function */
export const lambdaCostPerMillion = (traffic: Traffic, memoryMb: number): Cost => {
  const { responseBytes, durationMs } = traffic;
  const gbSeconds = (memoryMb / 1_024) * ((durationMs + CLOSE_EVENT_MS) / 1_000);
  return perMillion({
    'API Gateway': Math.max(1, Math.ceil(responseBytes / API_GATEWAY_CHUNK_BYTES)) * awsPrices.apiGatewayRequest,
    firewall: awsPrices.wafRequest,
    'gateway function': awsPrices.lambdaRequest + gbSeconds * awsPrices.lambdaGbSecond + streamed(traffic),
    ...tracking,
    logs: (LOG_BYTES / GB) * awsPrices.logsGb,
    'transfer out': transferOut(traffic),
  });
};

/** Requests in flight at a rate: each holds an execution environment of Lambda. Little's law. */
export const requestsInFlight = (requestsPerSecond: number, durationMs: number): number =>
  requestsPerSecond * ((durationMs + CLOSE_EVENT_MS) / 1_000);

/** Capacity of a load balancer's unit in an hour: new connections a second are left out, SDKs keep theirs. */
const CAPACITY_UNIT = { activeConnections: 3_000, gbPerHour: 1 };
const SECONDS_PER_HOUR = 3_600;
const HOURS_PER_MONTH = 730;
/** Public addresses of the load balancer: one in each availability zone. */
const LOAD_BALANCER_ADDRESSES = 3;

/** Figures by which lib/stacks/container-proxy.ts scales, and the sizes that lib/stage-settings.ts has by default. */
const TASK = { vcpus: 1, memoryGb: 2, min: 3, openRequests: 400, processorShare: 0.6 };

/** The containers that a steady rate needs. */
export const tasksFor = (traffic: Traffic, requestsPerSecond: number): number =>
  Math.max(
    TASK.min,
    Math.ceil(requestsInFlight(requestsPerSecond, traffic.durationMs) / TASK.openRequests),
    Math.ceil((requestsPerSecond * traffic.processorMs) / 1_000 / TASK.processorShare),
  );

/** USD for a million tracked requests in containers that serve this rate around the clock. */
export const containerCostPerMillion = (traffic: Traffic, requestsPerSecond: number): Cost => {
  const perHour = requestsPerSecond * SECONDS_PER_HOUR;
  const { requestBytes, responseBytes, durationMs } = traffic;
  const capacityUnits = Math.max(
    requestsInFlight(requestsPerSecond, durationMs) / CAPACITY_UNIT.activeConnections,
    (perHour * (requestBytes + responseBytes)) / GB / CAPACITY_UNIT.gbPerHour,
  );
  const taskHour =
    TASK.vcpus * awsPrices.fargateVcpuHour + TASK.memoryGb * awsPrices.fargateGbHour + awsPrices.publicIpv4Hour;
  const loadBalancerHour =
    awsPrices.loadBalancerHour +
    capacityUnits * awsPrices.loadBalancerCapacityUnitHour +
    LOAD_BALANCER_ADDRESSES * awsPrices.publicIpv4Hour;
  return perMillion({
    containers: (tasksFor(traffic, requestsPerSecond) * taskHour) / perHour,
    'load balancer': loadBalancerHour / perHour,
    firewall: awsPrices.wafRequest,
    ...tracking,
    'transfer out': transferOut(traffic),
  });
};

/** A record as the table stores it, and what DynamoDB adds to each item. */
const RECORD_BYTES = 1_000 + 100;

/** Days of records that the table has: those of `table.requestDays`, the day itself, and one until they are deleted. */
const TABLE_DAYS = 30 + 2;
/** Bytes of a record in a day file, and in the exports of both formats and datasets (bench/exports.ts), with room for larger records. */
const DAY_FILE_BYTES = 200;
const EXPORT_BYTES = 500;
const EXPORT_DAYS = 400;

/**
 * USD a month once the first records expire: those in the table with their point-in-time recovery, day files, exports, and what it takes
 * to move records from one to the other.
 */
export const storagePerMonth = (requestsPerSecond: number, retentionDays: number) => {
  const perDay = requestsPerSecond * DAY_SECONDS;
  const tableDays = Math.min(retentionDays, TABLE_DAYS);
  const gb = (perDay * tableDays * RECORD_BYTES) / GB;
  const objectGb = (perDay * ((retentionDays - tableDays) * DAY_FILE_BYTES + EXPORT_DAYS * EXPORT_BYTES)) / GB;
  const moved = retentionDays > tableDays ? (perDay * HOURS_PER_MONTH) / 24 : 0;
  const usd =
    gb * (awsPrices.dynamoDbGbMonth + awsPrices.dynamoDbRecoveryGbMonth) +
    objectGb * awsPrices.s3GbMonth +
    moved * movedRecordUsd;
  return { gb, objectGb, usd };
};

export const engines = ['Lambda', 'containers'] as const;
export type Engine = (typeof engines)[number];

export interface Assumptions {
  /** Memory of the gateway's function on Lambda. */
  readonly memoryMb: number;
  /** How long records are kept. */
  readonly retentionDays: number;
}

/** USD a month for a steady rate around the clock, storage included, without what a stage costs anyway. */
export const monthlyCost = (
  engine: Engine,
  traffic: Traffic,
  requestsPerSecond: number,
  { memoryMb, retentionDays }: Assumptions,
): number => {
  const costs: Record<Engine, () => Cost> = {
    Lambda: () => lambdaCostPerMillion(traffic, memoryMb),
    containers: () => containerCostPerMillion(traffic, requestsPerSecond),
  };
  const millions = (requestsPerSecond * SECONDS_PER_HOUR * HOURS_PER_MONTH) / 1e6;
  return millions * totalOf(costs[engine]()) + storagePerMonth(requestsPerSecond, retentionDays).usd;
};

/** The lowest rate between two of which something holds that holds of all above it, too. */
export const firstRate = (least: number, most: number, holds: (rate: number) => boolean): number => {
  let [low, high] = [least, most];
  while (high / low > 1.000_1) {
    const middle = Math.sqrt(low * high);
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
};

/**
 * The rate, steady around the clock, from which containers cost less than Lambda; three significant digits. 0: at every rate.
 * Undefined: at none up to 10,000 a second.
 */
export const breakEvenPerSecond = (traffic: Traffic, assumptions: Assumptions): number | undefined => {
  const costsLess = (rate: number) =>
    monthlyCost('containers', traffic, rate, assumptions) < monthlyCost('Lambda', traffic, rate, assumptions);
  const [least, most] = [1e-4, 1e4];
  if (!costsLess(most)) return undefined;
  return costsLess(least) ? 0 : Number(firstRate(least, most, costsLess).toPrecision(3));
};

/** Resources of a stage whatever its traffic; a test compares it with the templates. */
export interface FixedResources {
  readonly webAcls: number;
  readonly firewallRules: number;
  /** Metrics that alarms read. */
  readonly alarmMetrics: number;
  readonly dashboards: number;
  readonly secrets: number;
  /** Runs of scheduled functions in a month, and the same times the gigabytes of each. */
  readonly scheduledRuns: number;
  readonly scheduledGbRuns: number;
  /** Queues that Lambda asks for messages. */
  readonly polledQueues: number;
}

const schedules = { scheduledRuns: 148_950, scheduledGbRuns: 133_403, polledQueues: 2 };

/** Resources of a stage with default settings. */
export const fixedResources = {
  lambda: { webAcls: 2, firewallRules: 7, alarmMetrics: 78, dashboards: 1, secrets: 3, ...schedules },
  containers: { webAcls: 2, firewallRules: 7, alarmMetrics: 81, dashboards: 1, secrets: 3, ...schedules },
} as const satisfies Record<string, FixedResources>;

const MINUTES_PER_MONTH = HOURS_PER_MONTH * 60;
/** A run that finds nothing to do takes a third of a second of a processor on one machine; the rest is for waits. An assumption. */
const IDLE_RUN_SECONDS = 0.5;
/** A rule worker runs once a minute, by a message of the evaluator, and has this memory. */
const WORKER_GB = 1;
/** Lambda asks a queue by five connections, each of which waits 20 s. @see https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html */
const POLLS_PER_MINUTE = 15;
/** Counted on one machine without an account, in all functions: queries of shards of the index and of the outbox, a unit each at most. */
const IDLE_READS_PER_MINUTE = 53;
const IDLE_WRITES_PER_MINUTE = 2.3;

/** USD a month, by component. Of the metrics, only those with values are billed. */
export const fixedCostPerMonth = (resources: FixedResources): Cost => ({
  firewall: resources.webAcls * awsPrices.webAclMonth + resources.firewallRules * awsPrices.firewallRuleMonth,
  alarms: resources.alarmMetrics * awsPrices.alarmMetricMonth,
  dashboard: resources.dashboards * awsPrices.dashboardMonth,
  secrets: resources.secrets * awsPrices.secretMonth,
  schedules:
    (resources.scheduledRuns + MINUTES_PER_MONTH) * awsPrices.lambdaRequest +
    (resources.scheduledGbRuns + WORKER_GB * MINUTES_PER_MONTH) * IDLE_RUN_SECONDS * awsPrices.lambdaGbSecond,
  polling: resources.polledQueues * POLLS_PER_MINUTE * MINUTES_PER_MONTH * awsPrices.sqsRequest,
  'table reads':
    MINUTES_PER_MONTH *
    (IDLE_READS_PER_MINUTE * awsPrices.dynamoDbReadUnit + IDLE_WRITES_PER_MINUTE * awsPrices.dynamoDbWriteUnit),
});

/** USD a month of the fewest containers and their load balancer, without traffic. */
export const idleContainersPerMonth = (): number => {
  const { containers = 0, 'load balancer': loadBalancer = 0 } = containerCostPerMillion(NO_TRAFFIC, 1);
  return ((containers + loadBalancer) * SECONDS_PER_HOUR * HOURS_PER_MONTH) / 1e6;
};

const NO_TRAFFIC: Traffic = { name: 'none', requestBytes: 0, responseBytes: 0, durationMs: 0, processorMs: 0 };

export const scenarios: readonly Traffic[] = [
  { name: 'embedding', requestBytes: 2_000, responseBytes: 20_000, durationMs: 300, processorMs: 4 },
  { name: 'chat, not streamed', requestBytes: 4_000, responseBytes: 3_000, durationMs: 2_000, processorMs: 4 },
  { name: 'short stream', requestBytes: 4_000, responseBytes: 60_000, durationMs: 5_000, processorMs: 20 },
  { name: 'long stream', requestBytes: 20_000, responseBytes: 600_000, durationMs: 60_000, processorMs: 70 },
];
