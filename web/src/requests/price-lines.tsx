import type { ReactNode } from 'react';
import type { RequestDetail } from '../api/responses.ts';
import { useApi, useMe } from '../app.ts';
import { Money } from '../components/amount.tsx';
import { TextLink } from '../components/page.tsx';
import { type Column, Table } from '../components/table.tsx';
import { formatExact, formatMoney } from '../format/numbers.ts';
import { kindTexts } from '../prices/price-texts.ts';
import { isTokenKind, kindName } from '../providers/names.ts';
import classes from './requests.module.css';

const MILLION = 1_000_000;

/** Token rates are per million, as in price lists. */
const rateText = (kind: string, rateNanoUsd: number): string =>
  isTokenKind(kind) ? `${formatMoney(rateNanoUsd * MILLION)} / 1M` : `${formatMoney(rateNanoUsd)} each`;

interface Line {
  readonly name: ReactNode;
  readonly key: string;
  readonly quantity?: string;
  readonly rate?: string;
  readonly cost: ReactNode;
}

const columns: readonly Column<Line>[] = [
  { head: 'Kind', cell: ({ name }) => name },
  { head: 'Quantity', className: 'num', cell: ({ quantity }) => quantity },
  { head: 'Rate', className: 'num dim', cell: ({ rate }) => rate },
  { head: 'Cost', className: 'num', cell: ({ cost }) => cost },
];

const TOTAL = 'total';

interface LinesProps {
  readonly lines: RequestDetail['lines'];
  /** Shown between the lines and their total. */
  readonly steps?: readonly Line[];
  readonly totalName: string;
  readonly total: number | null;
}

const Lines = ({ lines, steps = [], totalName, total }: LinesProps) => (
  <Table
    label={totalName}
    frame=""
    className={classes['lines']}
    columns={columns}
    items={[
      ...lines.map(({ kind, quantity, rateNanoUsdPerUnit }) => ({
        key: kind,
        name: kindName(kind),
        quantity: formatExact(quantity),
        rate: rateText(kind, rateNanoUsdPerUnit),
        cost: <Money as="part" nano={Math.round(quantity * rateNanoUsdPerUnit)} />,
      })),
      ...steps,
      { key: TOTAL, name: totalName, cost: <Money as="part" nano={total} /> },
    ]}
    keyOf={({ key }) => key}
    rowClassName={({ key }) => (key === TOTAL ? 'total' : undefined)}
  />
);

interface OwnPriceLinesProps {
  readonly request: RequestDetail;
  readonly own: NonNullable<RequestDetail['ownPrices']>;
}

/** How the account's own prices lead from the list price to the cost. */
const OwnPriceLines = ({ request, own }: OwnPriceLinesProps) => {
  const enabled = useMe().may('spend:read-all');
  const { data } = useApi().useQuery('get', '/prices', {}, { enabled });
  const nameOf = (priceId: string) =>
    data?.items.find(({ id }) => id === priceId)?.name ?? (data ? 'A deleted price' : 'A price of the account');
  return (
    <section>
      <h3>Your price</h3>
      <Lines
        lines={own.lines}
        steps={own.steps.map(({ priceId, kind, factor }) => ({
          key: priceId,
          name: `${nameOf(priceId)} (${kindTexts[kind as keyof typeof kindTexts] ?? kind})`,
          cost: factor === null ? 'own rates' : `× ${factor}`,
        }))}
        total={request.costNanoUsd}
        totalName="Cost"
      />
      <p className="dim small">
        {own.isProvisional && 'Provisional: it depends on sums of the month, which still runs. '}
        {enabled && <TextLink to="/prices">Your prices</TextLink>}
      </p>
    </section>
  );
};

const Evidence = ({ evidence }: { readonly evidence: RequestDetail['priceEvidence'] }) => {
  const sources = Object.entries(evidence?.sources ?? {}).map(([name, day]) => (day ? `${name} (${day})` : name));
  if (!evidence || sources.length === 0) return null;
  return (
    <>
      . Sources: {sources.join(', ')}
      {evidence.agree !== null && (evidence.agree ? ', which agree' : ', which differ')}
    </>
  );
};

/** The list price line by line, and where the account has prices of its own, the effective one. */
export const Price = ({ request }: { readonly request: RequestDetail }) => (
  <>
    {request.lines.length > 0 && (
      <section>
        <h3>{request.ownPrices ? 'List price, line by line' : 'Price, line by line'}</h3>
        <Lines
          lines={request.lines}
          total={request.ownPrices ? request.listCostNanoUsd : request.costNanoUsd}
          totalName={request.ownPrices ? 'List price' : 'Total'}
        />
        {request.priceSource && (
          <p className="dim small">
            Price book: {request.priceSource}
            {/^\d+$/.test(request.priceVersion ?? '') && `, version ${request.priceVersion}`}
            <Evidence evidence={request.priceEvidence} />
          </p>
        )}
      </section>
    )}
    {request.ownPrices && <OwnPriceLines request={request} own={request.ownPrices} />}
  </>
);
