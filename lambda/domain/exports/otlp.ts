import { isError, modelOf, type RequestRecord } from '../spend/request-record.ts';

/*
 * Requests as the OpenTelemetry protocol has them, in JSON, by the semantic conventions for generative AI of version 1.45.
 * @see https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding, https://opentelemetry.io/docs/specs/semconv/gen-ai/
 */

type Attribute = string | number | null | undefined;

/** 64-bit integers are text. */
const attributesOf = (values: Readonly<Record<string, Attribute>>) =>
  Object.entries(values).flatMap(([key, value]) => {
    if (value === null || value === undefined) return [];
    return [{ key, value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value } }];
  });

const scope = { name: 'ai-spend-gateway' };
const resource = { attributes: attributesOf({ 'service.name': 'ai-spend-gateway' }) };
const nanosOf = (ms: number): string => String(BigInt(Math.round(ms)) * 1_000_000n);

/** The conventions' names of providers, where they differ from ours. */
const providerNames: Readonly<Record<string, string>> = {
  google: 'gcp.gemini',
  mistral: 'mistral_ai',
  xai: 'x_ai',
};

const operationOf = ({ path, reading }: RequestRecord): string => {
  if (/embed/.test(reading?.dialect ?? path)) return 'embeddings';
  if (reading?.dialect === 'gemini-generate') return 'generate_content';
  return /(?<!chat)\/completions$/.test(path) ? 'text_completion' : 'chat';
};

/** Who served what, and how it ended. */
const about = (record: RequestRecord) => ({
  'gen_ai.operation.name': operationOf(record),
  'gen_ai.provider.name': providerNames[record.provider] ?? record.provider,
  'gen_ai.request.model': record.reading?.modelRequested,
  'gen_ai.response.model': modelOf(record),
  'error.type': isError(record) ? String(record.status ?? record.outcome) : undefined,
});

const endMs = ({ startedAt, totalMs }: RequestRecord): number => Date.parse(startedAt) + (totalMs ?? 0);

/** The tokens of a request, where they are known, and counted with it. */
const usageOf = ({ usage, repeatOf }: RequestRecord) => (repeatOf === null ? usage : null);

const logRecord = (record: RequestRecord, now: Date) => {
  const [traceId, spanId] = record.trace?.split('-') ?? [];
  const usage = usageOf(record);
  return {
    timeUnixNano: nanosOf(endMs(record)),
    observedTimeUnixNano: nanosOf(now.getTime()),
    severityNumber: isError(record) ? 17 : 9,
    eventName: 'gen_ai.client.inference.operation.details',
    attributes: attributesOf({
      ...about(record),
      'gen_ai.conversation.id': record.session?.id,
      'gen_ai.usage.input_tokens': usage?.inputTokens,
      'gen_ai.usage.output_tokens': usage?.outputTokens,
      'gen_ai.usage.cache_read.input_tokens': usage?.cacheReadTokens,
      'gen_ai.usage.cache_creation.input_tokens': usage?.cacheWriteTokens,
      'gen_ai.usage.reasoning.output_tokens': usage?.reasoningTokens,
      'ai_spend.request.id': record.requestId,
      'ai_spend.cost_nano_usd': record.costNanoUsd,
      'ai_spend.provenance': record.provenance,
      'ai_spend.key.id': record.keyId,
      'ai_spend.tag': record.tag,
      'ai_spend.client': record.client,
    }),
    ...(traceId !== undefined && { traceId, spanId }),
  };
};

/** The body for `/v1/logs`: one record for each request. */
export const otlpLogs = (records: readonly RequestRecord[], now: Date) => ({
  resourceLogs: [{ resource, scopeLogs: [{ scope, logRecords: records.map((record) => logRecord(record, now)) }] }],
});

interface Value {
  readonly attributes: Readonly<Record<string, Attribute>>;
  readonly value: number;
}

/** A sum is of one range only: the protocol calls that delta (1). */
const DELTA = 1;

/** The bounds that the conventions recommend. */
const TOKEN_BOUNDS = Array.from({ length: 14 }, (_, power) => 4 ** power);
const SECOND_BOUNDS = Array.from({ length: 14 }, (_, power) => 0.01 * 2 ** power);

/** The body for `/v1/metrics`: what the requests of a range add. @param range that the requests began in */
export const otlpMetrics = (
  records: readonly RequestRecord[],
  range: { readonly from: string; readonly to: string },
) => {
  const times = { startTimeUnixNano: nanosOf(Date.parse(range.from)), timeUnixNano: nanosOf(Date.parse(range.to)) };
  const total = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0);

  const metric = (
    [name, unit]: readonly [string, string],
    kind: 'histogram' | 'sum',
    values: readonly Value[],
    pointOf: (numbers: readonly number[]) => object,
  ) => {
    const groups = Map.groupBy(values, ({ attributes }) => JSON.stringify(attributesOf(attributes)));
    const dataPoints = [...groups].map(([attributes, group]) => ({
      attributes: JSON.parse(attributes) as object[],
      ...times,
      ...pointOf(group.map(({ value }) => value)),
    }));
    const others = { aggregationTemporality: DELTA, ...(kind === 'sum' && { isMonotonic: true }) };
    return dataPoints.length === 0 ? [] : [{ name, unit, [kind]: { ...others, dataPoints } }];
  };
  const asSum = (numbers: readonly number[]) => ({ asInt: String(total(numbers)) });
  const asHistogram = (explicitBounds: readonly number[]) => (numbers: readonly number[]) => ({
    count: String(numbers.length),
    sum: total(numbers),
    bucketCounts: [0, ...explicitBounds].map((_, bucket) => {
      const [above = Number.NEGATIVE_INFINITY, upTo = Number.POSITIVE_INFINITY] = [
        explicitBounds[bucket - 1],
        explicitBounds[bucket],
      ];
      return String(numbers.filter((number) => number > above && number <= upTo).length);
    }),
    explicitBounds,
  });

  const tokens = records.flatMap((record) => {
    const usage = usageOf(record);
    return usage === null
      ? []
      : (['input', 'output'] as const).map((type) => ({
          attributes: { ...about(record), 'gen_ai.token.type': type },
          value: type === 'input' ? usage.inputTokens : usage.outputTokens,
        }));
  });
  const durations = records.flatMap((record) =>
    record.totalMs === null ? [] : [{ attributes: about(record), value: record.totalMs / 1_000 }],
  );
  const costs = records.flatMap((record) =>
    record.costNanoUsd === null
      ? []
      : [{ attributes: { ...about(record), 'ai_spend.provenance': record.provenance }, value: record.costNanoUsd }],
  );
  const unknown = records.flatMap((record) =>
    record.costNanoUsd === null ? [{ attributes: about(record), value: 1 }] : [],
  );
  const metrics = [
    ...metric(['gen_ai.client.token.usage', '{token}'], 'histogram', tokens, asHistogram(TOKEN_BOUNDS)),
    ...metric(['gen_ai.client.operation.duration', 's'], 'histogram', durations, asHistogram(SECOND_BOUNDS)),
    ...metric(['ai_spend.cost', '{nanoUSD}'], 'sum', costs, asSum),
    ...metric(['ai_spend.unknown_cost_requests', '{request}'], 'sum', unknown, asSum),
  ];
  return { resourceMetrics: [{ resource, scopeMetrics: [{ scope, metrics }] }] };
};
