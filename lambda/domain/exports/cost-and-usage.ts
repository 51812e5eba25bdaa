import { HOUR_MS } from '../calendar/units.ts';
import { startOf, startOfMonth } from '../calendar/utc.ts';
import { tokenKinds } from '../price/rates.ts';
import { type ProviderLabel, providerByLabel } from '../providers.ts';
import { modelOf } from '../spend/request-record.ts';
import type { Usage } from '../usage/usage.ts';
import type { Charge } from './charges.ts';
import { type Column, type ColumnType, jsonOf, type Value } from './column.ts';

const kindsOfTokens: ReadonlySet<string> = new Set(tokenKinds);

/** `cacheWrite1h` → `Cache Write 1h`. */
const titleOf = (name: string): string =>
  name.replace(/([a-z])([A-Z\d])/g, '$1 $2').replace(/^./, (first) => first.toUpperCase());

const meterOf = ({ kind }: Charge): string => {
  if (kind === null) return 'Requests';
  return kindsOfTokens.has(kind) ? `${titleOf(kind)} Tokens` : titleOf(kind);
};

/** In the format of FOCUS: plural, capitalized. */
const unitOf = ({ kind }: Charge): string => {
  if (kind === null) return 'Requests';
  if (kindsOfTokens.has(kind)) return 'Tokens';
  return kind === 'audioSeconds' || kind === 'videoSeconds' ? 'Seconds' : titleOf(kind);
};

const providerName = ({ record }: Charge): string =>
  providerByLabel(record.provider as ProviderLabel)?.name ?? record.provider;

const skuOf = (charge: Charge): string => {
  const { provider } = charge.record;
  return `${provider}/${modelOf(charge.record) ?? 'unknown'}/${charge.kind ?? 'requests'}`;
};

const startedAt = ({ record }: Charge): Date => new Date(record.startedAt);
const hourOf = (charge: Charge): number => startOf('hour', startedAt(charge)).getTime();

const column = (name: string, type: ColumnType, of: (charge: Charge) => Value): Column<Charge> => ({ name, type, of });
const constant = (name: string, value: string): Column<Charge> => column(name, 'text', () => value);
const tokens = (name: string, member: keyof Usage & `${string}Tokens`): Column<Charge> =>
  // As in the ledger: a response that is fetched again has the tokens of the request that it was counted with.
  column(name, 'count', ({ isFirst, record: { usage, repeatOf } }) =>
    isFirst && usage && repeatOf === null ? usage[member] : null,
  );

/**
 * Cost and usage in the FOCUS specification 1.2, a row for each charge. Columns that FOCUS has for discounts of commitments, regions and
 * resources are left out: nothing here has them.
 *
 * @see https://focus.finops.org/focus-specification/v1-2/
 */
export const costAndUsageColumns: readonly Column<Charge>[] = [
  column('BilledCost', 'nanoUsd', ({ costNanoUsd }) => costNanoUsd),
  column('BillingAccountId', 'text', ({ record }) => record.accountId),
  column('BillingAccountName', 'text', () => null),
  constant('BillingAccountType', 'Account'),
  constant('BillingCurrency', 'USD'),
  column('BillingPeriodEnd', 'time', (charge) => startOfMonth(startedAt(charge), 1).getTime()),
  column('BillingPeriodStart', 'time', (charge) => startOfMonth(startedAt(charge)).getTime()),
  constant('ChargeCategory', 'Usage'),
  column('ChargeClass', 'text', () => null),
  column('ChargeDescription', 'text', (charge) => `${modelOf(charge.record) ?? 'Unknown model'}: ${meterOf(charge)}`),
  constant('ChargeFrequency', 'Usage-Based'),
  column('ChargePeriodEnd', 'time', (charge) => hourOf(charge) + HOUR_MS),
  column('ChargePeriodStart', 'time', hourOf),
  column('ConsumedQuantity', 'number', ({ quantity }) => quantity),
  column('ConsumedUnit', 'text', unitOf),
  column('ContractedCost', 'nanoUsd', ({ costNanoUsd }) => costNanoUsd),
  column('ContractedUnitPrice', 'number', ({ unitPrice }) => unitPrice),
  column('EffectiveCost', 'nanoUsd', ({ costNanoUsd }) => costNanoUsd),
  column('InvoiceIssuerName', 'text', providerName),
  column('ListCost', 'nanoUsd', ({ listNanoUsd }) => listNanoUsd),
  column('ListUnitPrice', 'number', ({ listUnitPrice }) => listUnitPrice),
  // The prices of a cost that the provider reports as a whole are not known.
  column('PricingCategory', 'text', ({ record }) => (record.provenance === 'provider' ? 'Other' : 'Standard')),
  column('PricingQuantity', 'number', ({ quantity }) => quantity),
  column('PricingUnit', 'text', unitOf),
  column('ProviderName', 'text', providerName),
  column('PublisherName', 'text', providerName),
  constant('ServiceCategory', 'AI and Machine Learning'),
  column('ServiceName', 'text', (charge) => `${providerName(charge)} API`),
  constant('ServiceSubcategory', 'Generative AI'),
  column('SkuId', 'text', skuOf),
  column('SkuMeter', 'text', meterOf),
  column('SkuPriceId', 'text', (charge) => {
    const tier = charge.record.reading?.serviceTier;
    return tier ? `${skuOf(charge)}/${tier}` : skuOf(charge);
  }),
  column('Tags', 'json', ({ record: { metadata, tag } }) =>
    jsonOf({ ...metadata, ...(tag !== null && { 'X-Service-Tag': tag }) }),
  ),
  column('x_Client', 'text', ({ record }) => record.client),
  column('x_IsListCostKnown', 'flag', ({ record }) => record.listCostNanoUsd !== null),
  column('x_Metadata', 'json', ({ record }) => jsonOf(record.metadata)),
  column('x_Model', 'text', ({ record }) => modelOf(record)),
  column('x_Outcome', 'text', ({ record }) => record.outcome),
  column('x_PriceSource', 'text', ({ record }) => record.priceSource),
  column('x_Provenance', 'text', ({ record }) => record.provenance),
  column('x_Provider', 'text', ({ record }) => record.provider),
  column('x_ProviderKey', 'text', ({ record }) => record.providerKey),
  column('x_Reason', 'text', ({ record }) => record.reason),
  column('x_RequestId', 'text', ({ record }) => record.requestId),
  column('x_Requests', 'count', ({ isFirst }) => Number(isFirst)),
  column('x_ServiceKeyId', 'text', ({ record }) => record.keyId),
  column('x_StartedAt', 'time', ({ record }) => Date.parse(record.startedAt)),
  column('x_Tag', 'text', ({ record }) => record.tag),
  tokens('x_InputTokens', 'inputTokens'),
  tokens('x_OutputTokens', 'outputTokens'),
  tokens('x_CacheReadTokens', 'cacheReadTokens'),
  tokens('x_CacheWriteTokens', 'cacheWriteTokens'),
  tokens('x_ReasoningTokens', 'reasoningTokens'),
];
