import { Drawer, Group, Progress, Stack, Text } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { RequestDetail } from '../api/responses.ts';
import { useApi, useMe } from '../app.ts';
import { AtRate, Cost, Instant, Money, rateOf } from '../components/amount.tsx';
import { CopyToClipboard } from '../components/copy.tsx';
import { LimitLink, Loaded, ScrollRegion, TextLink } from '../components/page.tsx';
import { type Column, Table } from '../components/table.tsx';
import { formatBytes, formatDuration, formatExact, formatMoney, shownIn } from '../format/numbers.ts';
import { formatInstant } from '../format/time.ts';
import { useAccessRules, useBudgets, usePauses } from '../limits/use-limits.ts';
import { kindTexts } from '../prices/price-texts.ts';
import { isTokenKind, kindName, providerName } from '../providers/names.ts';
import { providerKeyName } from '../spend/groups.ts';
import { useKeyNames } from '../spend/use-key-names.ts';
import classes from './requests.module.css';
import { outcomeNames, provenanceNames, Status } from './status.tsx';

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

/** The counts above zero of the normalised usage, by kind. */
const usageRows = (usage: RequestDetail['usage']): readonly [string, number][] =>
  Object.entries(usage ?? {}).flatMap(([kind, count]): [string, number][] => {
    if (kind === 'units' && typeof count === 'object' && count !== null)
      return usageRows(count as Record<string, unknown>) as [string, number][];
    return typeof count === 'number' && count > 0 && /tokens$|^[a-z]+(s|Units)$/i.test(kind) && !/NanoUsd$/.test(kind)
      ? [[kind, count]]
      : [];
  });

const Usage = ({ request }: { readonly request: RequestDetail }) => {
  const rows = usageRows(request.usage);
  return (
    <section>
      <h3>Usage</h3>
      {rows.length === 0 ? (
        <p className="dim small">
          {request.provenance === 'free' ? 'Nothing billable was used.' : 'Usage is unknown.'}
        </p>
      ) : (
        <dl className={classes['grid']}>
          {rows.map(([kind, count]) => (
            <Fact key={kind} name={kindName(kind)}>
              <span className="num">{formatExact(count)}</span>
            </Fact>
          ))}
        </dl>
      )}
    </section>
  );
};

interface FactProps {
  readonly name: string;
  readonly isMono?: boolean;
  readonly children: ReactNode;
}

const Fact = ({ name, isMono = false, children }: FactProps) => (
  <>
    <dt>{name}</dt>
    <dd className={isMono ? 'mono' : undefined}>{children}</dd>
  </>
);

const Timing = ({ request: { ttfbMs, totalMs } }: { readonly request: RequestDetail }) =>
  totalMs === null ? null : (
    <section>
      <h3>Time</h3>
      <Progress.Root size={10} aria-hidden>
        <Progress.Section value={((ttfbMs ?? 0) / Math.max(1, totalMs)) * 100} color="var(--dim)" />
        <Progress.Section value={100 - ((ttfbMs ?? 0) / Math.max(1, totalMs)) * 100} color="var(--accent)" />
      </Progress.Root>
      <Group justify="space-between" mt={7} className="dim small">
        <span className="num">
          {ttfbMs === null ? 'No byte received' : `First byte after ${formatDuration(ttfbMs)}`}
        </span>
        <span className="num">{formatDuration(totalMs)} in all</span>
      </Group>
    </section>
  );

/** The budget, pause or access rule that refused a request: by its name while it exists, else by its id. */
const RefusedBy = ({ id }: { readonly id: string | null }) => {
  const budget = useBudgets().data?.items.find((each) => each.id === id);
  const pause = usePauses().data?.items.find((each) => each.id === id);
  const rule = useAccessRules().data?.items.find((each) => each.id === id);
  if (id === null) return 'The gateway could not read budgets and pauses';
  if (budget) return <LimitLink id={budget.id}>{budget.name}</LimitLink>;
  if (rule) return `Access rule: ${rule.name}`;
  return pause ? `Pause: ${pause.name}` : <span className="mono">{id}</span>;
};

const RequestDetails = ({ request }: { readonly request: RequestDetail }) => {
  const keyNames = useKeyNames();
  const raw = request.rawUsage && JSON.stringify(request.rawUsage, null, 2);
  const { modelRequested, modelServed } = request;
  return (
    <Stack gap={24} pb={32} className={classes['detail']}>
      <section>
        <Group justify="space-between" align="baseline" gap="4px 16px">
          <Text span fz={30} fw={640} lts="-0.028em">
            <Cost as="fine" of={request} />
          </Text>
          {shownIn(request)?.decimal && (
            <AtRate value={undefined}>
              <Money as="fine" nano={request.costNanoUsd} className="dim" />
            </AtRate>
          )}
          <Status request={request} />
        </Group>
        <p className="dim small">
          {provenanceNames[request.provenance]}
          {request.reason && `: ${request.reason}`}
          {request.estimateRange && (
            <>
              {' '}
              Nine of ten such estimates at list price lie between{' '}
              <Money as="fine" nano={request.estimateRange.leastNanoUsd} /> and{' '}
              <Money as="fine" nano={request.estimateRange.mostNanoUsd} />.
            </>
          )}
        </p>
      </section>
      <AtRate value={rateOf(request.costNanoUsd, shownIn(request))}>
        <Price request={request} />
      </AtRate>
      <Usage request={request} />
      <Timing request={request} />
      <section>
        <h3>Request</h3>
        <dl className={classes['grid']}>
          <Fact name="Started">{formatInstant(request.startedAt)}</Fact>
          <Fact name="Provider">{providerName(request.provider)}</Fact>
          <Fact name="Model">
            {modelServed ?? modelRequested ?? '–'}
            {modelRequested && modelServed && modelRequested !== modelServed && (
              <span className="dim"> (requested: {modelRequested})</span>
            )}
          </Fact>
          <Fact isMono name="Endpoint">{`${request.method} ${request.path}`}</Fact>
          <Fact name="Outcome">
            {outcomeNames[request.outcome]}
            {request.streamed && ', streamed'}
            {request.usageComplete === false && request.outcome !== 'refused' && ', read in part'}
          </Fact>
          {request.outcome === 'refused' && (
            <Fact name="Refused by">
              <RefusedBy id={request.blockedBy} />
            </Fact>
          )}
          <Fact name="Route">
            {request.route === 'bypassed'
              ? `Bypassed: tracking was ${request.isConfirmedLate ? 'slow' : 'failing'} and caught up later`
              : (request.route ?? 'Unknown')}
          </Fact>
          {request.serviceTier && <Fact name="Service tier">{request.serviceTier}</Fact>}
          <Fact name="Tag">
            {request.tag ?? '–'}
            {request.tagTruncated && <span className="dim"> (changed to at most 64 characters of valid UTF-8)</span>}
          </Fact>
          <Fact name="Client">{request.client ?? '–'}</Fact>
          {request.session && (
            <Fact name="Session">
              <TextLink to="/sessions/$sessionId" params={{ sessionId: request.session.id }} className="mono">
                {request.session.id}
              </TextLink>
              {request.session.agentId && <span className="dim"> (agent {request.session.agentId})</span>}
            </Fact>
          )}
          {Object.entries(request.metadata).map(([name, value]) => (
            <Fact key={name} name={name}>
              {value}
            </Fact>
          ))}
          {request.metadataTruncated && <Fact name="Metadata">Some was cut or ignored</Fact>}
          <Fact name="Service key">{request.key ? (keyNames.get(request.key) ?? request.key) : '–'}</Fact>
          <Fact isMono name="Provider key">
            {request.providerKey ? providerKeyName(request.providerKey) : '–'}
          </Fact>
          <Fact name="Bytes">
            {formatBytes(request.requestBytes)} sent, {formatBytes(request.responseBytes)} received
          </Fact>
          <Fact name="Recorded">
            <Instant iso={request.recordedAt} />
          </Fact>
          <Fact name="Request id">
            <Group gap={6} my={-5} wrap="nowrap">
              <span className="mono">{request.requestId}</span>
              <CopyToClipboard value={request.requestId} label="Copy the request id" />
            </Group>
          </Fact>
          {request.repeatOf && (
            <Fact isMono name="Counted with">
              {request.repeatOf}
            </Fact>
          )}
        </dl>
      </section>
      {raw && (
        <section>
          <Group justify="space-between">
            <h3>Usage as reported</h3>
            <CopyToClipboard value={raw} label="Copy the usage object" />
          </Group>
          <ScrollRegion className="code" label="Usage as the provider reported it">
            <pre>{raw}</pre>
          </ScrollRegion>
        </section>
      )}
    </Stack>
  );
};

/** One request next to the list, with its own URL, so that it can be shared. */
export const RequestDrawer = () => {
  const { requestId } = getRouteApi('/members/requests/$requestId').useParams();
  const navigate = useNavigate();
  const query = useApi().useQuery('get', '/requests/{requestId}', {
    params: { path: { requestId } },
  });
  const { data } = query;
  const close = async () => {
    await navigate({ to: '/requests', search: true, resetScroll: false });
    document.querySelector<HTMLElement>(`a[href^="/requests/${CSS.escape(requestId)}"]`)?.focus();
  };
  return (
    <Drawer
      opened
      onClose={() => void close()}
      returnFocus={false}
      position="right"
      size={560}
      title={data ? (data.modelServed ?? data.modelRequested ?? data.path) : 'Request'}
    >
      <Loaded query={query} title="The request could not be loaded" height={360}>
        {(request) => <RequestDetails request={request} />}
      </Loaded>
    </Drawer>
  );
};
