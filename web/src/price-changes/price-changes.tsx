import { History } from 'lucide-react';
import type { PriceChangesReport } from '../api/responses.ts';
import { useApi } from '../app.ts';
import { Instant, Money } from '../components/amount.tsx';
import { ListPage, TextLink } from '../components/page.tsx';
import { type Column, Table } from '../components/table.tsx';
import { formatRate, plural } from '../format/numbers.ts';
import { utcDayText } from '../format/time.ts';
import { kindName, providerName } from '../providers/names.ts';

type Version = PriceChangesReport['items'][number];
type ModelChange = Version['models'][number];
type Waiting = PriceChangesReport['feed']['waiting'][number];

const MODELS_SHOWN = 10;

const modelColumn: Column<Pick<ModelChange, 'model' | 'provider'>> = {
  head: 'Model',
  cell: ({ model, provider }) => (
    <>
      {model ?? 'no model'} <span className="dim small">{providerName(provider)}</span>
    </>
  ),
};

const changeColumns: readonly Column<ModelChange>[] = [
  modelColumn,
  { head: 'Requests', className: 'right', cell: ({ requests }) => plural(requests, 'request') },
  {
    head: 'Cost before',
    className: 'right',
    cell: (of) => <Money nano={of.unknownBefore === of.requests ? null : of.nanoUsdBefore} />,
  },
  {
    head: 'After',
    className: 'right',
    cell: (of) => (
      <>
        <Money nano={of.unknownAfter === of.requests ? null : of.nanoUsdAfter} />
        {of.unknownBefore > of.unknownAfter && (
          <div className="dim small">{plural(of.unknownBefore - of.unknownAfter, 'cost')} became known</div>
        )}
      </>
    ),
  },
];

const VersionCard = ({ version }: { readonly version: Version }) => (
  <Table
    label={`Version ${version.version}`}
    caption={
      <>
        <h2 className="section-title">
          Version {version.version}, <Instant iso={version.repricedAt} />
        </h2>
        <span className="dim small">
          {plural(version.requests, 'request')} of {utcDayText(version.firstDay)}
          {version.lastDay !== version.firstDay && ` to ${utcDayText(version.lastDay)}`} priced again, by{' '}
          <Money as="change" nano={version.nanoUsdAfter - version.nanoUsdBefore} />
        </span>
      </>
    }
    columns={changeColumns}
    items={version.models.slice(0, MODELS_SHOWN)}
    keyOf={({ provider, model }) => `${provider} ${model}`}
    lastRow={
      version.models.length > MODELS_SHOWN &&
      `${plural(version.models.length - MODELS_SHOWN, 'model')} more with smaller differences`
    }
  />
);

const rates = (prices: Waiting['before']): string =>
  prices === null
    ? 'none'
    : Object.entries(prices)
        .map(([kind, usd]) => `${kindName(kind).toLowerCase()} ${formatRate(usd)}`)
        .join(', ');

const reasons: Readonly<Record<Waiting['why'], string>> = {
  step: 'by more than half',
  range: 'unlike similar models',
  many: 'one of many at once',
  oneSource: 'in one source alone',
  override: 'unlike a correction of the gateway',
};

const waitingColumns: readonly Column<Waiting>[] = [
  modelColumn,
  {
    head: 'Price that holds (1M tokens)',
    cell: ({ why, before, after }) => rates(why === 'oneSource' ? after : before),
  },
  {
    head: 'Published',
    cell: ({ after, source, why }) => (
      <>
        {rates(after)}{' '}
        <span className="dim small">
          {source}, {reasons[why]}
        </span>
      </>
    ),
  },
  { head: 'Since', className: 'wide-only', cell: ({ firstSeenAt }) => <Instant iso={firstSeenAt} /> },
];

const WaitingChanges = ({ waiting }: { readonly waiting: readonly Waiting[] }) => (
  <Table
    label="Waiting changes"
    caption={
      <>
        <h2 className="section-title">Waiting changes</h2>
        <span className="dim small">
          Published prices that wait for a second source, or for the operator of the gateway.
        </span>
      </>
    }
    columns={waitingColumns}
    items={waiting}
    keyOf={({ source, provider, model, after }) => `${source} ${provider} ${model} ${rates(after)}`}
  />
);

export const PriceChanges = () => {
  const query = useApi().useQuery('get', '/price-changes');
  const { data } = query;
  return (
    <ListPage
      skeleton
      title="Price changes"
      about={
        <>
          List prices come from a feed. What a new version did to recorded costs, newest first.{' '}
          <TextLink to="/prices">Your own prices</TextLink>
        </>
      }
      query={query}
      things="changes"
      empty={
        data?.items.length === 0 && {
          icon: History,
          title: 'No recorded cost changed',
          text: 'When a new price holds since an earlier time, or a model gets its first price, requests of the last 35 days are priced again, and are listed here.',
        }
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
      {data && data.feed.waiting.length > 0 && <WaitingChanges waiting={data.feed.waiting} />}
    </ListPage>
  );
};
