import type { Query } from '../query/duckdb.ts';
import focus from './focus-1.2.json' with { type: 'json' };

/** The FOCUS specification of a column, in its table of content constraints. */
interface FocusColumn {
  readonly name: string;
  /** `Mandatory`, `Conditional`, `Recommended` or `Optional`. */
  readonly level: string;
  /** `String`, `Decimal`, `Date/Time` or `JSON`. */
  readonly type: string;
  readonly isNullable: boolean;
  readonly isNonNegative?: boolean;
  /** The only values that are allowed; of a subcategory, `category/subcategory`. */
  readonly values?: readonly string[];
}

/** The columns of FOCUS 1.2, out of the pages of its specification. */
const focusColumns = focus.columns as readonly FocusColumn[];

const typesOf: Readonly<Record<string, RegExp>> = {
  String: /^VARCHAR$/,
  JSON: /^(VARCHAR|JSON)$/,
  Decimal: /^(DECIMAL|DOUBLE|BIGINT)/,
  'Date/Time': /^TIMESTAMP/,
};

const text = (value: string): string => `'${value.replaceAll("'", "''")}'`;

/** Faults of a row, with the condition of each, by the table of a column's content constraints. */
const constraintsOf = ({ name, type, isNullable, isNonNegative, values }: FocusColumn): [string, string][] => {
  const found: [string, string][] = [];
  if (!isNullable) found.push([`${name} is null`, `${name} IS NULL`]);
  if (type === 'String') found.push([`${name} is empty`, `trim(${name}) = ''`]);
  if (isNonNegative) found.push([`${name} is negative`, `${name} < 0`]);
  if (values) {
    const value = name.endsWith('Subcategory') ? `concat(ServiceCategory, '/', ${name})` : name;
    found.push([`${name} is not one of the allowed values`, `${value} NOT IN (${values.map(text).join(', ')})`]);
  }
  if (type === 'JSON')
    found.push([
      `${name} is no object of single values`,
      `${name} IS NOT NULL AND (NOT json_valid(${name}) OR json_type(${name}) <> 'OBJECT'
         OR regexp_matches(json_structure(${name})::VARCHAR, ':[{\\[]'))`,
    ]);
  return found;
};

const sameNull = (left: string, right: string): [string, string, string[]] => [
  `${left} is null exactly where ${right} is`,
  `(${left} IS NULL) <> (${right} IS NULL)`,
  [left, right],
];
const isCharge = `ChargeCategory IN ('Usage', 'Purchase') AND ChargeClass IS DISTINCT FROM 'Correction'`;
const requiredInCharges = (name: string): [string, string, string[]] => [
  `${name} is null in a charge for usage`,
  `${isCharge} AND ${name} IS NULL`,
  [name],
];
/** To the last digit that costs have: whole nano-dollars. */
const product = (price: string, cost: string): [string, string, string[]] => [
  `${cost} is not ${price} times PricingQuantity`,
  `abs(${price} * PricingQuantity - ${cost}) >= 1e-9 + 1e-15 * abs(${cost})`,
  [price, cost],
];

/** The rules of the requirements of columns that compare columns: what is wrong, the condition, and the columns it needs. */
const rules: readonly [string, string, string[]][] = [
  product('ListUnitPrice', 'ListCost'),
  product('ContractedUnitPrice', 'ContractedCost'),
  requiredInCharges('ListUnitPrice'),
  requiredInCharges('ContractedUnitPrice'),
  requiredInCharges('PricingQuantity'),
  requiredInCharges('PricingCategory'),
  requiredInCharges('SkuId'),
  requiredInCharges('SkuPriceId'),
  [
    'ConsumedQuantity is null in a charge for usage',
    `ChargeCategory = 'Usage' AND CommitmentDiscountStatus IS DISTINCT FROM 'Unused' AND ConsumedQuantity IS NULL`,
    ['ConsumedQuantity'],
  ],
  sameNull('ConsumedUnit', 'ConsumedQuantity'),
  sameNull('PricingUnit', 'PricingQuantity'),
  sameNull('SkuMeter', 'SkuId'),
  sameNull('BillingAccountType', 'BillingAccountId'),
  ['BillingCurrency is no code of ISO 4217', `NOT regexp_matches(BillingCurrency, '^[A-Z]{3}$')`, []],
  ['BillingPeriodStart is no start of a month', `BillingPeriodStart <> date_trunc('month', BillingPeriodStart)`, []],
  ['BillingPeriodEnd is not its end', `BillingPeriodEnd <> BillingPeriodStart + INTERVAL 1 MONTH`, []],
  [
    'ChargePeriod of usage is not an hour',
    `ConsumedQuantity IS NOT NULL AND ChargePeriodEnd <> ChargePeriodStart + INTERVAL 1 HOUR`,
    [],
  ],
  [
    'The charge is outside of its billing period',
    'ChargePeriodStart < BillingPeriodStart OR ChargePeriodEnd > BillingPeriodEnd',
    [],
  ],
  [
    'EffectiveCost differs from BilledCost without a commitment',
    `EffectiveCost <> BilledCost AND CommitmentDiscountId IS NULL`,
    [],
  ],
  ['A purchase has an EffectiveCost', `ChargeCategory = 'Purchase' AND EffectiveCost <> 0`, []],
  [
    'CommitmentDiscountStatus is null in usage of a commitment, or not in other rows',
    `(CommitmentDiscountStatus IS NULL) = (ChargeCategory = 'Usage' AND CommitmentDiscountId IS NOT NULL)`,
    [],
  ],
  ['A credit is no credit', `ChargeCategory = 'Credit' AND EffectiveCost >= 0`, []],
  sameNull('CommitmentDiscountName', 'CommitmentDiscountId'),
  sameNull('CommitmentDiscountType', 'CommitmentDiscountId'),
  sameNull('CommitmentDiscountCategory', 'CommitmentDiscountId'),
  sameNull('SubAccountName', 'SubAccountId'),
];

/**
 * Checks the table `cost_and_usage` by the rules of FOCUS 1.2: columns, names and order, types, nulls, allowed values, and arithmetic.
 *
 * @returns what is wrong, each with the number of rows; empty where all is right
 */
export const checkFocus = async (query: Pick<Query, 'rows'>): Promise<string[]> => {
  const errors: string[] = [];
  const described = await query.rows('DESCRIBE cost_and_usage');
  // Names of the folders, not columns of the files.
  const found = described
    .map((row) => ({ name: String(row['column_name']), type: String(row['column_type']) }))
    .filter(({ name }) => name !== 'account' && name !== 'day');
  const names = new Set(found.map(({ name }) => name));
  const known = new Map(focusColumns.map((column) => [column.name, column]));

  for (const { name, level } of focusColumns)
    if (level === 'Mandatory' && !names.has(name)) errors.push(`${name} is missing`);
  for (const [index, { name, type }] of found.entries()) {
    const column = known.get(name);
    if (!column && !name.startsWith('x_')) errors.push(`${name} is no column of FOCUS and does not begin with x_`);
    if (column && !typesOf[column.type]?.test(type)) errors.push(`${name} has type ${type}, not ${column.type}`);
    if (column && found.slice(0, index).some((before) => before.name.startsWith('x_')))
      errors.push(`${name} comes after a custom column`);
  }

  const conditions = [
    ...focusColumns.filter(({ name }) => names.has(name)).flatMap(constraintsOf),
    ...rules.filter(([, , needed]) => needed.every((name) => names.has(name))),
  ];
  const sums = conditions.map(([, condition], index) => `count(*) FILTER (${condition}) AS c${index}`);
  const [counts] = await query.rows(`SELECT ${sums.join(', ')} FROM cost_and_usage`);
  for (const [index, [rule]] of conditions.entries()) {
    const rows = Number(counts?.[`c${index}`] ?? 0);
    if (rows > 0) errors.push(`${rule}: ${rows} rows`);
  }
  const parents = `SELECT count(*) AS n FROM (SELECT SkuPriceId FROM cost_and_usage GROUP BY 1 HAVING count(DISTINCT SkuId) > 1)`;
  if (names.has('SkuPriceId') && Number((await query.rows(parents))[0]?.['n']) > 0)
    errors.push('A SkuPriceId has several SkuIds');
  return errors;
};
