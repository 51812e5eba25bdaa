import type { ReactNode } from 'react';
import type { RequestDetail } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { Money } from '../components/amount.tsx';
import { TextLink } from '../components/links.tsx';
import { formatMoney } from '../format/money.ts';
import { formatExact } from '../format/quantity.ts';
import { kindTexts } from '../prices/price-texts.ts';
import { isTokenKind, kindName } from '../providers/names.ts';
import classes from './requests.module.css';

const MILLION = 1_000_000;

/** Token rates are per million, as in price lists. */
const rateText = (kind: string, rateNanoUsd: number): string =>
  isTokenKind(kind) ? `${formatMoney(rateNanoUsd * MILLION)} / 1M` : `${formatMoney(rateNanoUsd)} each`;

interface LinesProps {
  readonly lines: RequestDetail['lines'];
  readonly total: number | null;
  readonly totalName: string;
  /** Rows between the lines and their total. */
  readonly children?: ReactNode;
}

const Lines = ({ lines, total, totalName, children }: LinesProps) => (
  <table className={classes['lines']}>
    <thead>
      <tr>
        <th>Kind</th>
        <th>Quantity</th>
        <th>Rate</th>
        <th>Cost</th>
      </tr>
    </thead>
    <tbody>
      {lines.map(({ kind, quantity, rateNanoUsdPerUnit }) => (
        <tr key={kind}>
          <td>{kindName(kind)}</td>
          <td className="num">{formatExact(quantity)}</td>
          <td className="num dim">{rateText(kind, rateNanoUsdPerUnit)}</td>
          <td>
            <Money as="part" nano={Math.round(quantity * rateNanoUsdPerUnit)} />
          </td>
        </tr>
      ))}
      {children}
    </tbody>
    <tfoot>
      <tr>
        <td colSpan={3}>{totalName}</td>
        <td>
          <Money as="part" nano={total} />
        </td>
      </tr>
    </tfoot>
  </table>
);

interface OwnPriceLinesProps {
  readonly request: RequestDetail;
  readonly own: NonNullable<RequestDetail['ownPrices']>;
}

/** How the account's own prices lead from the list price to the cost. */
const OwnPriceLines = ({ request, own }: OwnPriceLinesProps) => {
  const { data } = useApi().useQuery('get', '/prices');
  return (
    <section>
      <h3>Your price</h3>
      <Lines lines={own.lines} total={request.costNanoUsd} totalName="Cost">
        {own.steps.map(({ priceId, kind, factor }) => (
          <tr key={priceId} className="dim">
            <td colSpan={3}>
              {data?.items.find(({ id }) => id === priceId)?.name ?? 'A deleted price'} (
              {kindTexts[kind as keyof typeof kindTexts] ?? kind})
            </td>
            <td className="num">{factor === null ? 'own rates' : `× ${factor}`}</td>
          </tr>
        ))}
      </Lines>
      <p className="dim small">
        {own.isProvisional && 'Provisional: it depends on sums of the month, which still runs. '}
        <TextLink to="/prices">Your prices</TextLink>
      </p>
    </section>
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
          </p>
        )}
      </section>
    )}
    {request.ownPrices && <OwnPriceLines request={request} own={request.ownPrices} />}
  </>
);
