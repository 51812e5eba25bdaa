import { addDays, type Day } from '../../../lambda/domain/calendar/utc.ts';
import type {
  Bill,
  BilledTokens,
  BilledUsage,
  BillLine,
  RecordedUsage,
} from '../../../lambda/domain/reconciliation/bill.ts';
import type { ReconcileInput } from '../../../lambda/domain/reconciliation/reconcile.ts';

/** USD per million tokens. */
const list: Readonly<Record<string, BilledTokens>> = {
  'claude-opus-4': { input: 15, cacheRead: 1.5, cacheWrite: 18.75, output: 75 },
  'claude-sonnet-4': { input: 3, cacheRead: 0.3, cacheWrite: 3.75, output: 15 },
  'gpt-4o': { input: 2.5, cacheRead: 1.25, cacheWrite: 2.5, output: 10 },
};
const models = Object.keys(list);
export const FROM = '2026-10-01';
const DAYS = 31;

interface Request {
  readonly day: Day;
  readonly model: string;
  readonly tokens: BilledTokens;
}

/** One thing that makes the bill and the ledger of a month differ. Each member changes what the other side sees. */
export interface Discrepancy {
  /** A request that did not pass the gateway. */
  readonly isOutside?: (request: Request, index: number) => boolean;
  /** A request that passed while tracking failed. */
  readonly isUntracked?: (request: Request, index: number) => boolean;
  /** A request that the ledger has no price for. */
  readonly isUnpriced?: (request: Request) => boolean;
  /** The bill's day of a request that the ledger has on its own. */
  readonly billedDay?: (request: Request, index: number) => Day;
  /** Factor of the billed price. */
  readonly priceFactor?: (request: Request) => number;
  readonly extraLines?: readonly BillLine[];
  readonly isBilledYet?: (day: Day) => boolean;
}

export interface Simulated {
  readonly input: ReconcileInput;
  /** What the discrepancy itself moved, billed less recorded, in nano-USD. */
  readonly movedNanoUsd: number;
}

const costNanoUsd = (model: string, tokens: BilledTokens): number => {
  const usd = list[model] as BilledTokens;
  return Math.round(
    (tokens.input * usd.input +
      tokens.cacheRead * usd.cacheRead +
      tokens.cacheWrite * usd.cacheWrite +
      tokens.output * usd.output) *
      1_000,
  );
};

const add = (a: BilledTokens, b: BilledTokens): BilledTokens => ({
  input: a.input + b.input,
  cacheRead: a.cacheRead + b.cacheRead,
  cacheWrite: a.cacheWrite + b.cacheWrite,
  output: a.output + b.output,
});

const none: BilledTokens = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };

const requestsOf = (random: () => number): Request[] =>
  Array.from({ length: DAYS }, (_, at) => addDays(FROM, at)).flatMap((day) =>
    models.flatMap((model) =>
      Array.from({ length: 20 + Math.floor(random() * 60) }, () => ({
        day,
        model,
        tokens: {
          input: Math.floor(random() * 20_000),
          cacheRead: Math.floor(random() * 100_000),
          cacheWrite: Math.floor(random() * 10_000),
          output: Math.floor(random() * 4_000),
        },
      })),
    ),
  );

/** A month of mixed traffic: the provider's bill and what the ledger has of it. */
export const simulateMonth = (
  random: () => number,
  { withUsage, inCents }: { readonly withUsage: boolean; readonly inCents: boolean },
  discrepancy: Discrepancy = {},
): Simulated => {
  const billed = new Map<string, { usage: BilledUsage; amount: number }>();
  const recorded = new Map<string, RecordedUsage>();
  const untracked = new Map<Day, number>();
  for (const [index, request] of requestsOf(random).entries()) {
    const { model, tokens } = request;
    const cost = costNanoUsd(model, tokens);
    const day = discrepancy.billedDay?.(request, index) ?? request.day;
    const before = billed.get(`${day} ${model}`);
    billed.set(`${day} ${model}`, {
      usage: {
        day,
        model: `${model}-20250514`,
        tokens: add(before?.usage.tokens ?? none, tokens),
        requests: (before?.usage.requests ?? 0) + 1,
      },
      amount: (before?.amount ?? 0) + Math.round(cost * (discrepancy.priceFactor?.(request) ?? 1)),
    });
    if (discrepancy.isUntracked?.(request, index)) untracked.set(request.day, (untracked.get(request.day) ?? 0) + 1);
    else if (!discrepancy.isOutside?.(request, index)) {
      const isUnpriced = discrepancy.isUnpriced?.(request) ?? false;
      const known = recorded.get(`${request.day} ${model}`);
      recorded.set(`${request.day} ${model}`, {
        day: request.day,
        model,
        costNanoUsd: (known?.costNanoUsd ?? 0) + (isUnpriced ? 0 : cost),
        requests: (known?.requests ?? 0) + 1,
        unpricedRequests: (known?.unpricedRequests ?? 0) + Number(isUnpriced),
        tokens: add(known?.tokens ?? none, tokens),
      });
    }
  }
  const cents = (amount: number) => (inCents ? Math.round(amount / 1e7) * 1e7 : amount);
  const isBilled = ({ day }: { readonly day: Day }) => discrepancy.isBilledYet?.(day) ?? true;
  const lines = [
    ...[...billed.values()].map(
      ({ usage, amount }): BillLine => ({
        day: usage.day,
        item: `${usage.model} usage`,
        model: usage.model,
        amountNanoUsd: cents(amount),
      }),
    ),
    ...(discrepancy.extraLines ?? []),
  ].filter(isBilled);
  const bill: Bill = { lines, usage: withUsage ? [...billed.values()].map(({ usage }) => usage).filter(isBilled) : [] };
  const sum = (amounts: number[]) => amounts.reduce((total, amount) => total + amount, 0);
  const movedNanoUsd =
    sum(lines.map(({ amountNanoUsd }) => amountNanoUsd)) -
    sum([...recorded.values()].map((record) => record.costNanoUsd));
  const input: ReconcileInput = {
    from: FROM,
    to: addDays(FROM, DAYS - 1),
    bill,
    recorded: [...recorded.values()],
    untracked,
    listCost: (model, _day, tokens) => {
      const known = models.find((name) => model.startsWith(name));
      return known ? costNanoUsd(known, tokens) : null;
    },
  };
  return { input, movedNanoUsd };
};
