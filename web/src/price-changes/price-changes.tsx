import { History } from 'lucide-react';
import type { PriceChangesReport } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { Instant, Money } from '../components/amount.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { AnchorLink } from '../components/links.tsx';
import { ListPage } from '../components/list-page.tsx';
import { ScrollRegion } from '../components/scroll-region.tsx';
import { formatRate } from '../format/money.ts';
import { plural } from '../format/quantity.ts';
import { utcDayText } from '../format/time.ts';
import { kindName, providerName } from '../providers/names.ts';

type Version = PriceChangesReport['items'][number];
type Held = PriceChangesReport['feed']['held'][number];

const MODELS_SHOWN = 10;

/** Costs before and after, with the requests that had or have none. */
const Difference = ({ of }: { readonly of: Omit<Version['models'][number], 'provider' | 'model'> }) => (
  <>
    <td className="right">{plural(of.requests, 'request')}</td>
    <td className="right">
      <Money nano={of.unknownBefore === of.requests ? null : of.nanoUsdBefore} />
    </td>
    <td className="right">
      <Money nano={of.unknownAfter === of.requests ? null : of.nanoUsdAfter} />
      {of.unknownBefore > of.unknownAfter && (
        <>
          <br />
          <span className="dim small">{plural(of.unknownBefore - of.unknownAfter, 'cost')} became known</span>
        </>
      )}
    </td>
  </>
);

const VersionCard = ({ version }: { readonly version: Version }) => (
  <ScrollRegion className="card scroll-x" label={`Version ${version.version}`}>
    <table className="grid-table">
      <caption className="card-pad">
        <h2 className="section-title">
          Version {version.version}, <Instant iso={version.repricedAt} />
        </h2>
        <span className="dim small">
          {plural(version.requests, 'request')} of {utcDayText(version.firstDay)}
          {version.lastDay !== version.firstDay && ` to ${utcDayText(version.lastDay)}`} priced again, by{' '}
          <Money nano={version.nanoUsdAfter - version.nanoUsdBefore} />
        </span>
      </caption>
      <thead>
        <tr>
          <th>Model</th>
          <th className="right">Requests</th>
          <th className="right">Cost before</th>
          <th className="right">After</th>
        </tr>
      </thead>
      <tbody>
        {version.models.slice(0, MODELS_SHOWN).map((model) => (
          <tr key={`${model.provider} ${model.model}`}>
            <td>
              {model.model ?? 'no model'} <span className="dim small">{providerName(model.provider)}</span>
            </td>
            <Difference of={model} />
          </tr>
        ))}
        {version.models.length > MODELS_SHOWN && (
          <tr>
            <td colSpan={4} className="dim small">
              {plural(version.models.length - MODELS_SHOWN, 'model')} more with smaller differences
            </td>
          </tr>
        )}
      </tbody>
    </table>
  </ScrollRegion>
);

const rates = (prices: Held['before']): string =>
  prices === null
    ? 'none'
    : Object.entries(prices)
        .map(([kind, usd]) => `${kindName(kind).toLowerCase()} ${formatRate(usd)}`)
        .join(', ');

const HeldChanges = ({ held }: { readonly held: readonly Held[] }) => (
  <ScrollRegion className="card scroll-x" label="Held changes">
    <table className="grid-table">
      <caption className="card-pad">
        <h2 className="section-title">Held changes</h2>
        <span className="dim small">
          Published prices that differ by more than half. They wait for a second source, or for the operator of the
          gateway. Until then the price of before holds.
        </span>
      </caption>
      <thead>
        <tr>
          <th>Model</th>
          <th>Price that holds (1M tokens)</th>
          <th>Published</th>
          <th>Since</th>
        </tr>
      </thead>
      <tbody>
        {held.map(({ source, provider, model, before, after, firstSeenAt }) => (
          <tr key={`${source} ${provider} ${model}`}>
            <td>
              {model} <span className="dim small">{providerName(provider)}</span>
            </td>
            <td>{rates(before)}</td>
            <td>
              {rates(after)} <span className="dim small">{source}</span>
            </td>
            <td>
              <Instant iso={firstSeenAt} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </ScrollRegion>
);

export const PriceChanges = () => {
  const query = useApi().useQuery('get', '/price-changes');
  const { data } = query;
  return (
    <ListPage
      title="Price changes"
      about={
        <>
          List prices come from a feed. What a new version did to recorded costs, newest first.{' '}
          <AnchorLink to="/prices" underline="always" inherit>
            Your own prices
          </AnchorLink>
        </>
      }
      query={query}
      things="changes"
      empty={
        data?.items.length === 0 && (
          <EmptyState icon={History} title="No recorded cost changed">
            When a new price holds since an earlier time, or a model gets its first price, requests of the last 35 days
            are priced again, and are listed here.
          </EmptyState>
        )
      }
    >
      {data && (
        <p className="dim small">
          {data.feed.version === 0 ? 'The prices of this release hold.' : `Version ${data.feed.version} holds.`}
          {data.feed.checkedAt && (
            <>
              {' '}
              Published prices were last read <Instant iso={data.feed.checkedAt} ago />.
            </>
          )}
        </p>
      )}
      {data?.items.map((version) => (
        <VersionCard key={version.version} version={version} />
      ))}
      {data && data.feed.held.length > 0 && <HeldChanges held={data.feed.held} />}
    </ListPage>
  );
};
