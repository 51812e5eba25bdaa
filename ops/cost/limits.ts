import {
  type Assumptions,
  type Engine,
  firstRate,
  monthlyCost,
  requestsInFlight,
  type Traffic,
  tasksFor,
  WRITE_UNITS,
} from './estimate.ts';

/** Something that ends at some rate, with the defaults of a stage and the first quotas of an account. */
interface Limit {
  readonly what: string;
  /** Requests a second that it allows. */
  readonly perSecond: (traffic: Traffic) => number;
}

/** Those of AWS are first quotas, which are raised on request; an account that is new may have less. */
const ACCOUNT_CONCURRENCY = 1_000;
const API_GATEWAY_PER_SECOND = 10_000;
/** Defaults of lib/stage-settings.ts. */
const THROTTLE_PER_SECOND = 5_000;
const MAX_TASKS = 30;
/** An on-demand table that is new. @see https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html */
const NEW_TABLE_WRITE_UNITS = 4_000;
const TABLE_WRITE_UNITS = 40_000;

/** The rate of requests at which this many are in flight. */
const rateInFlight = (requests: number) => (traffic: Traffic) => requests / requestsInFlight(1, traffic.durationMs);

const table: readonly Limit[] = [
  { what: 'write units of a new table, 4,000 a second', perSecond: () => NEW_TABLE_WRITE_UNITS / WRITE_UNITS },
  { what: 'write units of a table, 40,000 a second', perSecond: () => TABLE_WRITE_UNITS / WRITE_UNITS },
];

const apiGateway: readonly Limit[] = [
  { what: 'gateway.throttle', perSecond: () => THROTTLE_PER_SECOND },
  { what: 'requests of API Gateway, 10,000 a second', perSecond: () => API_GATEWAY_PER_SECOND },
];

const limits: Readonly<Record<Engine, readonly Limit[]>> = {
  Lambda: [
    { what: 'concurrency of the account, 1,000', perSecond: rateInFlight(ACCOUNT_CONCURRENCY) },
    ...apiGateway,
    ...table,
  ],
  containers: [
    {
      what: 'containers.maxTasks, 30',
      perSecond: (traffic) => firstRate(0.01, 1e6, (rate) => tasksFor(traffic, rate) > MAX_TASKS),
    },
    ...table,
  ],
};

/** The limit that a rising rate meets first. */
export const firstLimit = (engine: Engine, traffic: Traffic) =>
  limits[engine]
    .map(({ what, perSecond }) => ({ what, perSecond: perSecond(traffic) }))
    .reduce((first, each) => (each.perSecond < first.perSecond ? each : first));

/** Count of resources at a rate. */
const sizeOf = (engine: Engine, traffic: Traffic, rate: number): string =>
  engine === 'containers'
    ? `${tasksFor(traffic, rate)} tasks`
    : `${Math.ceil(requestsInFlight(rate, traffic.durationMs))} environments`;

/** Needs and costs of a rate, and the first limit that it exceeds. */
export const scaleRow = (engine: Engine, traffic: Traffic, perSecond: number, assumptions: Assumptions) => {
  const first = firstLimit(engine, traffic);
  return {
    engine,
    traffic: traffic.name,
    perSecond,
    size: sizeOf(engine, traffic, perSecond),
    limit: perSecond > first.perSecond ? `${first.what} (from ${Number(first.perSecond.toPrecision(2))}/s)` : undefined,
    usdPerMonth: Math.round(monthlyCost(engine, traffic, perSecond, assumptions)),
  };
};
