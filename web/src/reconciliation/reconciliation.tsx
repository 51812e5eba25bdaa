import { Button, Code, FileButton, Group, NativeSelect, PasswordInput, Skeleton, Textarea } from '@mantine/core';
import { useForm } from '@mantine/form';
import { DAY_MS } from '../../../lambda/domain/calendar/units.ts';
import type { ProviderLabel } from '../../../lambda/domain/providers.ts';
import { type BilledProvider, billedProviders } from '../../../lambda/domain/reconciliation/bill.ts';
import type { BillConnection } from '../api/responses.ts';
import { notifyDone, useApi } from '../app.ts';
import { Instant } from '../components/amount.tsx';
import { ActButton, DialogButton } from '../components/buttons.tsx';
import { LoadProblem, Page, Section } from '../components/page.tsx';
import { TwoLines } from '../components/table.tsx';
import { usePageSearch } from '../components/use-page-search.ts';
import { plural } from '../format/numbers.ts';
import { utcDate } from '../format/time.ts';
import { required } from '../forms/fields.ts';
import { SubmitForm } from '../forms/submit-form.tsx';
import { providerChoices, providerName } from '../providers/names.ts';
import { CustomDays } from '../spend/custom-days.tsx';
import { Comparison } from './comparison.tsx';

interface ImportBillProps {
  readonly provider: ProviderLabel;
  readonly onImported: (provider: ProviderLabel, days: readonly string[]) => void;
}

const ImportBill = ({ provider, onImported }: ImportBillProps) => {
  const form = useForm({
    initialValues: { provider, csv: '' },
    validate: { csv: required('A file or text') },
  });
  const load = useApi().useMutation('put', '/bills/{provider}', {
    onSuccess: ({ days, lines }, { params }) => {
      notifyDone(
        `${plural(lines, 'line')} of ${plural(days.length, 'day')} stored for ${providerName(params.path.provider)}.`,
      );
      onImported(params.path.provider, days);
    },
  });
  return (
    <SubmitForm
      form={form}
      request={load}
      sent={({ provider: of, csv }) => ({ params: { path: { provider: of } }, body: { csv } })}
      failure="Nothing was imported"
      submit="Import"
      otherButtons={
        <FileButton
          accept=".csv,text/csv"
          onChange={async (file) => {
            if (file) form.setFieldValue('csv', await file.text());
          }}
        >
          {(props) => (
            <Button variant="default" {...props}>
              Choose a file
            </Button>
          )}
        </FileButton>
      }
    >
      <NativeSelect label="Provider" data={providerChoices} {...form.getInputProps('provider')} />
      <p className="dim small">
        Columns: <Code>day</Code> (2026-11-20, UTC), <Code>amount</Code> (USD, below 0 for a credit), and where the
        invoice has them <Code>item</Code> and <Code>model</Code>. A day that the file names is replaced as a whole.
      </p>
      <Textarea
        label="CSV"
        placeholder={'day,amount,model\n2026-11-20,12.34,gpt-4o'}
        autosize
        minRows={5}
        maxRows={14}
        {...form.getInputProps('csv')}
      />
    </SubmitForm>
  );
};

const credentials: Readonly<Record<BilledProvider, string>> = {
  openai: 'An admin key with the scope api.usage.read.',
  anthropic: 'An admin key of the organization.',
  openrouter: 'A management key.',
};

/** Asks for a credential that reads costs. The API tries it before storing it, and never returns it. */
const ConnectBill = ({ provider, onClose }: { readonly provider: BilledProvider; readonly onClose: () => void }) => {
  const form = useForm({ initialValues: { credential: '' }, validate: { credential: required('A credential') } });
  const connect = useApi().useMutation('put', '/bill-connections/{provider}', {
    onSuccess: onClose,
    meta: { done: `${providerName(provider)} responded. Its bill of the last 92 days is read within minutes.` },
  });
  return (
    <SubmitForm
      form={form}
      request={connect}
      sent={({ credential }) => ({ params: { path: { provider } }, body: { credential: credential.trim() } })}
      failure="The bill was not connected"
      submit="Try and save"
    >
      <PasswordInput
        label="Credential"
        description={`${credentials[provider]} Give it the right to read costs, and nothing else.`}
        autoComplete="off"
        data-autofocus
        {...form.getInputProps('credential')}
      />
      <p className="dim small">
        It is tried now, then stored in Secrets Manager. Nobody sees it again; you can replace or remove it.
      </p>
    </SubmitForm>
  );
};

const DAYS = 30;

interface ConnectionRowProps {
  readonly provider: BilledProvider;
  readonly connection: BillConnection | undefined;
}

const ConnectionState = ({ connection }: Pick<ConnectionRowProps, 'connection'>) => {
  if (!connection) return 'Not connected';
  if (connection.problem) return <span className="unknown">{connection.problem}</span>;
  return (
    <>
      Connected by {connection.connectedBy}, {connection.readAt ? 'read ' : 'not read yet'}
      {connection.readAt && <Instant iso={connection.readAt} ago />}
    </>
  );
};

const ConnectionRow = ({ provider, connection }: ConnectionRowProps) => {
  const name = providerName(provider);
  const disconnect = useApi().useMutation('delete', '/bill-connections/{provider}', {
    meta: { failure: 'The bill was not disconnected' },
  });
  return (
    <Group justify="space-between" py={6} fz="sm">
      <div>
        <TwoLines second={<ConnectionState connection={connection} />}>{name}</TwoLines>
      </div>
      <Group gap="xs">
        <DialogButton
          needs="bills:write"
          size="compact-sm"
          variant="default"
          label={connection ? 'Replace' : 'Connect'}
          aria-label={`${connection ? 'Replace' : 'Connect'} ${name}`}
          title={`Connect the bill of ${name}`}
        >
          {(close) => <ConnectBill provider={provider} onClose={close} />}
        </DialogButton>
        {connection && (
          <ActButton
            needs="bills:write"
            size="compact-sm"
            label="Disconnect"
            aria-label={`Disconnect ${name}`}
            act={disconnect}
            sent={{ params: { path: { provider } } }}
            ask={{
              title: `Disconnect the bill of ${name}?`,
              text: 'The credential is deleted. What was read stays.',
              action: 'Disconnect',
            }}
          />
        )}
      </Group>
    </Group>
  );
};

export const Reconciliation = () => {
  const { search, change } = usePageSearch('/members/reconciliation');
  const connections = useApi().useQuery('get', '/bill-connections');
  const connected = connections.data?.items;
  const day = (daysAgo: number) => utcDate(new Date(Date.now() - daysAgo * DAY_MS));
  const compared = {
    provider: search.provider ?? (connected?.[0]?.provider as ProviderLabel | undefined) ?? 'openai',
    from: search.from ?? day(DAYS),
    to: search.to ?? day(1),
  };
  const { provider, from, to } = compared;
  const compare = (part: Partial<typeof compared>) => change({ ...compared, ...part });
  return (
    <Page
      title="Reconciliation"
      about="What a provider billed, compared with what is on record, by day and model."
      actions={
        <DialogButton isWide needs="bills:write" variant="default" label="Import an invoice" title="Import an invoice">
          {(close) => (
            <ImportBill
              provider={provider}
              onImported={(imported, days) => {
                close();
                const sorted = days.toSorted();
                compare({ provider: imported, from: sorted[0], to: sorted.at(-1) });
              }}
            />
          )}
        </DialogButton>
      }
    >
      <Group gap="xs">
        <NativeSelect
          size="xs"
          aria-label="Provider"
          data={providerChoices}
          value={provider}
          onChange={({ currentTarget }) => compare({ provider: currentTarget.value as ProviderLabel })}
        />
        <CustomDays days={{ from, to }} zone="UTC" onChange={compare} />
      </Group>
      {search.provider === undefined && connections.isPending ? (
        <Skeleton height={260} radius="lg" />
      ) : (
        <Comparison {...compared} />
      )}
      <LoadProblem query={connections} title="The connections could not be loaded" />
      <Section
        title="Connected bills"
        about="Read every six hours with a credential that can read costs and nothing else. All other providers: import their invoices."
      >
        {connected &&
          billedProviders.map((each) => (
            <ConnectionRow
              key={each}
              provider={each}
              connection={connected.find((connection) => connection.provider === each)}
            />
          ))}
      </Section>
    </Page>
  );
};
