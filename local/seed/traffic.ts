import { V7Generator } from 'uuidv7';
import { DAY_MS, HOUR_MS } from '../../lambda/domain/calendar/units.ts';
import type { ProviderLabel } from '../../lambda/domain/providers.ts';
import type { Dialect } from '../../lambda/domain/usage/dialect.ts';
import type { CloseEvent } from '../../lambda/domain/usage/usage-event.ts';
import { randomFrom } from '../../ops/meter/random.ts';
import rows from './workloads.json' with { type: 'json' };

/** Tokens of a made-up call. Cached ones are part of the input, hidden ones part of the output. */
interface Tokens {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly reasoning: number;
}

type Shape = (tokens: Tokens) => Record<string, unknown>;

const openAi: Shape = ({ input, cached, output, reasoning }) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cached },
  completion_tokens_details: { reasoning_tokens: reasoning },
});

/** Usage in each provider's own words, so that it is read and priced by the code that reads theirs. */
const usageShapes = {
  openAi,
  embedding: ({ input }) => ({ prompt_tokens: input, total_tokens: input }),
  anthropic: ({ input, cached, output }) => ({
    input_tokens: input - cached,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: 0,
    output_tokens: output,
    service_tier: 'standard',
  }),
  gemini: ({ input, cached, output, reasoning }) => ({
    promptTokenCount: input,
    cachedContentTokenCount: cached,
    candidatesTokenCount: output - reasoning,
    thoughtsTokenCount: reasoning,
    totalTokenCount: input + output,
  }),
  rerank: () => ({ billed_units: { search_units: 1 } }),
  /** These name the cost themselves; the rates are what they charge about. */
  perplexity: (tokens) => ({
    ...openAi(tokens),
    search_context_size: 'medium',
    cost: { total_cost: (tokens.input * 3 + tokens.output * 15) / 1e6 + 0.01 },
  }),
  xai: (tokens) => ({
    ...openAi(tokens),
    cost_in_usd_ticks: Math.round((tokens.input * 3 + tokens.output * 15) * 1e4),
  }),
  openRouter: (tokens) => ({ ...openAi(tokens), cost: (tokens.input * 0.6 + tokens.output * 2.2) / 1e6 }),
} as const satisfies Record<string, Shape>;

type UsageShape = keyof typeof usageShapes;

/** When in a day (UTC) calls come: 24 weights. */
const hours = {
  office: [0, 0, 0, 0, 0, 0, 1, 3, 7, 10, 10, 8, 6, 9, 10, 9, 8, 5, 3, 2, 1, 1, 0, 0],
  round: [3, 2, 2, 2, 2, 3, 4, 6, 8, 9, 9, 9, 8, 9, 9, 9, 8, 8, 7, 6, 6, 5, 4, 4],
  night: [0, 8, 14, 10, 2, ...Array.from({ length: 19 }, () => 0)],
};

/** One kind of call that a made-up company sends. */
interface Workload {
  readonly tag: string | null;
  /** The program that sends it, where the gateway recognizes one. */
  readonly client?: string;
  /** It sends session ids, and starts agents. */
  readonly hasSessions?: boolean;
  /** By the account's second service key. */
  readonly batchKey?: true;
  /** Distinguished by the fingerprint of the provider's credential. */
  readonly providerKey: string;
  readonly provider: ProviderLabel;
  readonly model: string;
  readonly method?: 'GET';
  readonly path: string;
  readonly dialect: Dialect;
  readonly shape: UsageShape | null;
  readonly hours: readonly number[];
  /** Calls on a weekday; on others this share of them. */
  readonly perDay: number;
  readonly weekend: number;
  readonly input: number;
  readonly cachedShare?: number;
  readonly output: number;
  readonly reasoningShare?: number;
  readonly streamed?: true;
  /** In use for this number of days; without it all along. */
  readonly sinceDays?: number;
}

/**
 * All that the made-up company sends, day by day: production, and trials of providers with little use. Its own model `support-v2` has no
 * list price: its cost stays unknown.
 */
const workloads: readonly Workload[] = rows.map(
  (row) => ({ ...row, hours: hours[row.hours as keyof typeof hours] }) as Workload,
);

/** An agent that called itself for some hours, so that there is something for rules to find. */
const runaway = {
  daysAgo: 9,
  hours: [13, 14, 15],
  callsPerHour: 20,
  workload: {
    tag: 'extraction',
    batchKey: true,
    providerKey: 'openai-batch',
    provider: 'openai',
    model: 'gpt-4o',
    path: '/v1/chat/completions',
    dialect: 'openai-chat',
    shape: 'openAi',
    hours: [],
    perDay: 0,
    weekend: 0,
    input: 137_000,
    output: 3_400,
  } satisfies Workload,
} as const;

/** This month and the last, whatever the day is. */
const SEED_DAYS = 62;
const SEED = 20_261;

interface SeedAccount {
  readonly accountId: string;
  readonly keyId: string;
  readonly batchKeyId: string;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

/** Shape of one call, drawn from its workload. */
const draw = (random: () => number) => {
  /** Around 1, mostly within a factor of two: sizes of prompts and times vary like that. */
  const spread = () => Math.exp((random() + random() + random() - 1.5) * 0.9);
  const tokensOf = ({ input, cachedShare = 0, output, reasoningShare = 0 }: Workload): Tokens => {
    const [inputs, outputs] = [Math.round(input * spread()), Math.round(output * spread())];
    return {
      input: inputs,
      cached: Math.round(inputs * cachedShare * Math.min(1, spread())),
      output: outputs,
      reasoning: Math.round(outputs * reasoningShare),
    };
  };
  /** Most calls end well; providers are sometimes overloaded, and some clients disconnect in the middle of a response. */
  const endOf = ({ streamed, shape }: Workload): 'ok' | 'refused' | 'left' => {
    const chance = random();
    if (shape !== null && chance < 0.014) return 'refused';
    return streamed && chance > 0.978 ? 'left' : 'ok';
  };
  return { spread, tokensOf, endOf };
};

const modelOf = ({ model }: Workload) => (model === '' ? null : model);

/** The half day of a developer is a session, in which every third call is of the main agent. */
const sessionAt = (at: number, call: number) => {
  const id = `session-${new Date(Math.floor(at / (12 * HOUR_MS)) * 12 * HOUR_MS).toISOString().slice(0, 13)}`;
  return call % 3 === 0 ? { id } : { id, agentId: `agent-${call % 3}` };
};

/** Calls of two months up to now, as the gateway would have reported them: the same for the same time and account. */
export const seedTraffic = (account: SeedAccount, now: Date): CloseEvent[] => {
  const random = randomFrom(SEED);
  const ids = new V7Generator({ nextUint32: () => Math.floor(random() * 2 ** 32) });
  const { spread, tokensOf, endOf } = draw(random);

  const callAt = (workload: Workload, at: number, call: number): CloseEvent => {
    const tokens = tokensOf(workload);
    const end = endOf(workload);
    const isLeft = end === 'left';
    const seen = isLeft ? { ...tokens, cached: 0, output: Math.ceil(tokens.output * random()) } : tokens;
    const ttfbMs = Math.round((180 + tokens.input / 90) * spread());
    return {
      kind: 'close',
      version: 1,
      requestId: ids.generateOrResetWithTs(at).toString(),
      accountId: account.accountId,
      keyId: workload.batchKey ? account.batchKeyId : account.keyId,
      provider: workload.provider,
      providerKey: workload.providerKey,
      tag: workload.tag,
      tagTruncated: false,
      ...(workload.client && { client: workload.client }),
      ...(workload.hasSessions && { session: sessionAt(at, call) }),
      method: workload.method ?? 'POST',
      path: workload.path,
      startedAt: new Date(at).toISOString(),
      route: random() < 0.002 ? 'bypassed' : 'governed',
      outcome: isLeft ? 'client_aborted' : 'completed',
      status: end === 'refused' ? (random() < 0.6 ? 429 : 529) : 200,
      ttfbMs,
      totalMs: end === 'refused' ? ttfbMs : ttfbMs + Math.round((seen.output * 1000) / (85 * spread())),
      overheadMs: 0.6 * spread(),
      requestBytes: 400 + tokens.input * 4,
      responseBytes: 300 + seen.output * 4,
      reading: {
        dialect: workload.dialect,
        usage: end === 'refused' || workload.shape === null ? null : usageShapes[workload.shape](seen),
        usageSource: end === 'refused' || workload.shape === null ? 'none' : isLeft ? 'estimated' : 'reported',
        complete: !isLeft,
        modelRequested: modelOf(workload),
        modelServed: end === 'refused' ? null : modelOf(workload),
        streamed: workload.streamed ?? false,
        serviceTier: null,
        billableItems: {},
      },
    };
  };

  const events: CloseEvent[] = [];
  const today = Math.floor(now.getTime() / DAY_MS) * DAY_MS;
  const callsIn = (workload: Workload, expected: number, hourStart: number) => {
    const calls = Math.floor(expected + random());
    for (let call = 0; call < calls; call++) {
      const at = hourStart + Math.floor(random() * HOUR_MS);
      const event = callAt(workload, at, events.length);
      if (at < now.getTime() - event.totalMs) events.push(event);
    }
  };
  for (let daysAgo = SEED_DAYS - 1; daysAgo >= 0; daysAgo--) {
    const day = today - daysAgo * DAY_MS;
    const isWeekend = [0, 6].includes(new Date(day).getUTCDay());
    // A company that grows, with better and worse days.
    const mood = (1.12 - 0.005 * daysAgo) * (0.86 + 0.28 * random());
    for (const workload of workloads) {
      if (daysAgo >= (workload.sinceDays ?? SEED_DAYS)) continue;
      const perDay = workload.perDay * mood * (isWeekend ? workload.weekend : 1);
      const weights = sum(workload.hours);
      workload.hours.forEach((weight, hour) => {
        if (weight > 0) callsIn(workload, (perDay * weight) / weights, day + hour * HOUR_MS);
      });
    }
    if (daysAgo === runaway.daysAgo) {
      for (const hour of runaway.hours) callsIn(runaway.workload, runaway.callsPerHour, day + hour * HOUR_MS);
    }
  }
  return events.sort((one, other) => one.startedAt.localeCompare(other.startedAt));
};
