import { startOfMonth } from '../calendar/utc.ts';
import { hostName } from '../hosts.ts';
import { tokenKinds } from '../price/rates.ts';
import { modelOf, type RequestRecord } from '../spend/request-record.ts';
import type { Usage } from '../usage/usage.ts';
import type { Charge } from './charges.ts';
import { type Column, type ColumnType, jsonOf, type Value } from './column.ts';

const kindsOfTokens: ReadonlySet<string> = new Set(tokenKinds);

/** `cacheWrite1h` → `Cache Write 1h`. */
const titleOf = (name: string): string =>
  name.replace(/([a-z])([A-Z\d])/g, '$1 $2').replace(/^./, (first) => first.toUpperCase());

const meterOf = ({ kind, record }: Charge): string => {
  if (record === null) return 'Commitments';
  if (kind === null) return 'Requests';
  return kindsOfTokens.has(kind) ? `${titleOf(kind)} Tokens` : titleOf(kind);
};

/** In the format of FOCUS: plural, capitalized. */
const unitOf = ({ kind, record }: Charge): string => {
  if (record === null) return 'Commitments';
  if (kind === null) return 'Requests';
  if (kindsOfTokens.has(kind)) return 'Tokens';
  return kind === 'audioSeconds' || kind === 'videoSeconds' ? 'Seconds' : titleOf(kind);
};

/** The names of what a row is about, at the time of the export. */
export interface Names {
  readonly accountId: string;
  /** Its owner's company, or the owner. */
  readonly accountName: string | null;
  readonly projectId: string | null;
  readonly projectName: string | null;
  readonly keyName: string | null;
  /** User id of the member whose key it is. */
  readonly memberId: string | null;
  readonly memberName: string | null;
}

/** A row with the names of what it is about. */
export interface NamedCharge extends Charge {
  readonly names: Names;
}

const providerName = ({ record, price }: Charge): string => {
  const label = record?.provider ?? price?.provider;
  return label === undefined ? (price?.name ?? 'Several') : hostName(label);
};

const skuOf = (charge: Charge): string => {
  const { record, price } = charge;
  return record === null
    ? `commitment/${price?.priceId}`
    : `${record.provider}/${modelOf(record) ?? 'unknown'}/${charge.kind ?? 'requests'}`;
};

const descriptionOf = (charge: Charge): string => {
  const { record, price, category } = charge;
  if (record !== null) return `${modelOf(record) ?? 'Unknown model'}: ${meterOf(charge)}`;
  return category === 'Usage' ? `${price?.name}: unused` : `${price?.name}`;
};

const isCredit = ({ category }: Charge): boolean => category === 'Credit';
const isUsage = ({ record }: Charge): boolean => record !== null;
/** A commitment, or usage that one pays for. */
const commitmentOf = ({ price, category }: Charge) => (category === 'Credit' ? null : price);

const column = (
  name: string,
  type: ColumnType,
  of: (charge: NamedCharge) => Value,
  has: (charge: Charge) => boolean = () => true,
): Column<NamedCharge> => ({ name, type, of: (charge) => (has(charge) ? of(charge) : null) });
const constant = (name: string, value: string): Column<NamedCharge> => column(name, 'text', () => value);
const cost = (name: string, member: keyof Charge['costs']): Column<NamedCharge> =>
  column(name, 'nanoUsd', ({ costs }) => costs[member]);
/** A column of a request: null in other rows. */
const ofRequest = (name: string, type: ColumnType, of: (record: RequestRecord) => Value): Column<NamedCharge> =>
  column(name, type, ({ record }) => (record === null ? null : of(record)));
const tokens = (name: string, member: keyof Usage & `${string}Tokens`): Column<NamedCharge> =>
  // As in the ledger: a response that is fetched again has the tokens of the request that it was counted with.
  column(name, 'count', ({ isFirst, record }) =>
    isFirst && record?.usage && record.repeatOf === null ? record.usage[member] : null,
  );
const isPriced = (charge: Charge): boolean => !isCredit(charge);
const isCommitted = (charge: Charge): boolean => commitmentOf(charge) !== null;

/**
 * Cost and usage in the FOCUS specification 1.2, a row for each charge, purchase and credit. Columns that FOCUS has for regions and
 * resources are left out: nothing here has them.
 *
 * @see https://focus.finops.org/focus-specification/v1-2/
 */
export const costAndUsageColumns: readonly Column<NamedCharge>[] = [
  cost('BilledCost', 'billed'),
  column('BillingAccountId', 'text', ({ names }) => names.accountId),
  column('BillingAccountName', 'text', ({ names }) => names.accountName),
  constant('BillingAccountType', 'Account'),
  constant('BillingCurrency', 'USD'),
  column('BillingPeriodEnd', 'time', ({ period }) => startOfMonth(new Date(period.start), 1).getTime()),
  column('BillingPeriodStart', 'time', ({ period }) => startOfMonth(new Date(period.start)).getTime()),
  column('ChargeCategory', 'text', ({ category }) => category),
  column('ChargeClass', 'text', () => null),
  column('ChargeDescription', 'text', descriptionOf),
  column('ChargeFrequency', 'text', ({ category }) => (category === 'Purchase' ? 'Recurring' : 'Usage-Based')),
  column('ChargePeriodEnd', 'time', ({ period }) => period.end),
  column('ChargePeriodStart', 'time', ({ period }) => period.start),
  column('CommitmentDiscountCategory', 'text', () => 'Spend', isCommitted),
  column('CommitmentDiscountId', 'text', (charge) => commitmentOf(charge)?.priceId ?? null),
  column('CommitmentDiscountName', 'text', (charge) => commitmentOf(charge)?.name ?? null),
  column(
    'CommitmentDiscountQuantity',
    'nanoUsd',
    ({ costs, category }) => (category === 'Purchase' ? costs.billed : costs.effective - costs.billed),
    isCommitted,
  ),
  column(
    'CommitmentDiscountStatus',
    'text',
    (charge) => (isUsage(charge) ? 'Used' : 'Unused'),
    (charge) => isCommitted(charge) && charge.category === 'Usage',
  ),
  column('CommitmentDiscountType', 'text', () => 'Flat amount', isCommitted),
  column('CommitmentDiscountUnit', 'text', () => 'USD', isCommitted),
  column('ConsumedQuantity', 'number', ({ quantity }) => quantity, isUsage),
  column('ConsumedUnit', 'text', unitOf, isUsage),
  cost('ContractedCost', 'contracted'),
  column('ContractedUnitPrice', 'number', ({ contractedUnitPrice }) => contractedUnitPrice, isPriced),
  cost('EffectiveCost', 'effective'),
  column('InvoiceIssuerName', 'text', providerName),
  cost('ListCost', 'list'),
  column('ListUnitPrice', 'number', ({ listUnitPrice }) => listUnitPrice, isPriced),
  column(
    'PricingCategory',
    'text',
    (charge) => {
      if (charge.category === 'Usage' && isCommitted(charge)) return 'Committed';
      // The prices of a cost that the provider reports as a whole are not known.
      return charge.record?.provenance === 'provider' ? 'Other' : 'Standard';
    },
    isPriced,
  ),
  column('PricingQuantity', 'number', ({ quantity }) => quantity, isPriced),
  column('PricingUnit', 'text', unitOf, isPriced),
  column('ProviderName', 'text', providerName),
  column('PublisherName', 'text', providerName),
  constant('ServiceCategory', 'AI and Machine Learning'),
  column('ServiceName', 'text', (charge) => `${providerName(charge)} API`),
  constant('ServiceSubcategory', 'Generative AI'),
  column('SkuId', 'text', skuOf, isPriced),
  column('SkuMeter', 'text', meterOf, isPriced),
  column('SkuPriceDetails', 'json', ({ record }) => {
    const tier = record?.reading?.serviceTier;
    return jsonOf({ ...(record && { x_Model: modelOf(record) }), ...(tier && { x_ServiceTier: tier }) });
  }),
  column(
    'SkuPriceId',
    'text',
    (charge) => {
      const tier = charge.record?.reading?.serviceTier;
      return tier ? `${skuOf(charge)}/${tier}` : skuOf(charge);
    },
    isPriced,
  ),
  column('SubAccountId', 'text', ({ names }) => names.projectId),
  column('SubAccountName', 'text', ({ names }) => names.projectName),
  column('SubAccountType', 'text', ({ names }) => (names.projectId === null ? null : 'Project')),
  ofRequest('Tags', 'json', ({ metadata, tag }) =>
    jsonOf({ ...metadata, ...(tag !== null && { 'X-Service-Tag': tag }) }),
  ),
  ofRequest('x_Agent', 'text', ({ session }) => session?.agentId ?? null),
  ofRequest('x_Client', 'text', ({ client }) => client),
  cost('x_Cost', 'cost'),
  ofRequest('x_IsListCostKnown', 'flag', ({ listCostNanoUsd }) => listCostNanoUsd !== null),
  cost('x_Markup', 'markup'),
  column('x_MemberId', 'text', ({ names }) => names.memberId),
  column('x_MemberName', 'text', ({ names }) => names.memberName),
  ofRequest('x_Metadata', 'json', ({ metadata }) => jsonOf(metadata)),
  ofRequest('x_Model', 'text', modelOf),
  ofRequest('x_Outcome', 'text', ({ outcome }) => outcome),
  ofRequest('x_PriceSource', 'text', ({ priceSource }) => priceSource),
  ofRequest('x_Provenance', 'text', ({ provenance }) => provenance),
  ofRequest('x_Provider', 'text', ({ provider }) => provider),
  ofRequest('x_ProviderKey', 'text', ({ providerKey }) => providerKey),
  ofRequest('x_Reason', 'text', ({ reason }) => reason),
  ofRequest('x_RequestId', 'text', ({ requestId }) => requestId),
  column('x_Requests', 'count', ({ isFirst }) => Number(isFirst)),
  ofRequest('x_ServiceKeyId', 'text', ({ keyId }) => keyId),
  column('x_ServiceKeyName', 'text', ({ names }) => names.keyName),
  ofRequest('x_Session', 'text', ({ session }) => session?.id ?? null),
  ofRequest('x_StartedAt', 'time', ({ startedAt }) => Date.parse(startedAt)),
  ofRequest('x_Tag', 'text', ({ tag }) => tag),
  tokens('x_InputTokens', 'inputTokens'),
  tokens('x_OutputTokens', 'outputTokens'),
  tokens('x_CacheReadTokens', 'cacheReadTokens'),
  tokens('x_CacheWriteTokens', 'cacheWriteTokens'),
  tokens('x_ReasoningTokens', 'reasoningTokens'),
];
